import { explanationText } from "../../../infra/shell/explain.ts";
import { type ReplayResult, replayLines } from "./replay.ts";
import type { PlannedStep } from "../deployed/stack.ts";

type Facts = Record<string, unknown>;

const TEXTS: Readonly<Record<RecordEntry["step"], (facts: Facts) => string>> = {
  begun: ({ stack }) => `began with the stack ${String(stack)}`,
  planned: ({ summary }) => String(summary),
  backup: ({ made, skipped, refused }) => {
    if (made !== undefined) return `made the backup ${String(made)}`;
    return refused === undefined ? `made no backup: ${String(skipped)}` : firstLine(refused);
  },
  former: ({ former }) =>
    former === undefined ? "nothing ran before" : "noted the running version for a rollback",
  updating: () => "began the update",
  updated: ({ chats }) => ["the new version answers", chats].filter(Boolean).join(". "),
  failed: ({ cause }) => `failed: ${firstLine(cause)}`,
  back: ({ back }) => (Array.isArray(back) ? back.join(" ") : "could not roll back"),
  ended: ({ exit }) => `ended with ${String(exit)}`,
};

export function renderRolloutReport(entries: readonly RecordEntry[]): string {
  const [first] = entries;
  const planned = entries.find(({ step }) => step === "planned");
  const failed = entries.find(({ step }) => step === "failed");
  const ended = entries.at(-1)?.step === "ended";
  return [
    `# Rollout of ${String(first?.["stack"])}, ${first?.time}`,
    ended ? [] : ["", "It is in progress, or was interrupted."],
    "",
    "| after | step |",
    "|---|---|",
    entries.map((entry) => `| ${secondsAfter(first, entry)} s | ${cell(TEXTS[entry.step](entry))} |`),
    section("Planned", list(planned?.["steps"]).map(stepText)),
    replayed(planned?.["replay"]),
    section("Broken policies", list(planned?.["broken"]).map(String)),
    section("Needs approval", list(planned?.["gates"]).map(String)),
    failed === undefined ? [] : ["", "## Failure", "", "```", failureText(failed), "```"],
    "",
  ]
    .flat()
    .join("\n");
}

function failureText({ code, cause, fix }: Facts): string {
  return explanationText({
    code: typeof code === "string" ? code : undefined,
    cause: String(cause),
    fix: typeof fix === "string" ? fix : undefined,
  });
}

function replayed(result: unknown): string[] {
  return result === undefined ? [] : ["", "## Replay", "", ...replayLines(result as ReplayResult)];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines.map((line) => `- ${line}`)];
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function stepText(step: unknown): string {
  const { op, type, name } = step as PlannedStep;
  return `${op} ${name} (${type})`;
}

function secondsAfter(first: RecordEntry | undefined, entry: RecordEntry): string {
  return ((Date.parse(entry.time) - Date.parse(first?.time ?? "")) / 1_000).toFixed(1);
}

function firstLine(text: unknown): string {
  return String(text).split("\n", 1)[0] ?? "";
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** One line of a rollout's record. Contains no secret values. */
export interface RecordEntry {
  /** ISO 8601 */
  time: string;
  step: "begun" | "planned" | "backup" | "former" | "updating" | "updated" | "failed" | "back" | "ended";
  [fact: string]: unknown;
}
