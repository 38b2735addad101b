import type { UpdatePlan } from "../rollout/plan.ts";

/** A comment on GitHub holds 65,536 characters. */
const MOST_STEPS = 200;
const MOST_CHARACTERS = 20_000;

/** What an update would do, and what stops it. Names and types alone: a value may be a secret. */
export function previewText(stack: string, { summary, steps, broken, gates }: UpdatePlan): string {
  const shown = steps
    .slice(0, MOST_STEPS)
    .map(({ op, type, name }) => `| ${op} | ${cell(type)} | ${cell(name)} |`);
  const more = steps.length > shown.length ? [`\n… and ${steps.length - shown.length} more.`] : [];
  return lines(
    `### Preview of ${code(stack)}`,
    "",
    broken.length === 0 ? summary : `**Stopped by a policy.** ${summary}`,
    ...listed("Broken policies", broken),
    ...listed("Waits for somebody's word", gates),
    ...(shown.length === 0 ? [] : ["", "| | type | name |", "|---|---|---|", ...shown, ...more]),
  );
}

/** Why there is no preview. */
export function failureText(stack: string, cause: string): string {
  // A fence that the text cannot close.
  const fence = "`".repeat(Math.max(3, ...[...cause.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return lines(
    `### Preview of ${code(stack)}`,
    "",
    "**It failed.**",
    "",
    fence,
    cause.slice(0, MOST_CHARACTERS),
    fence,
  );
}

function listed(title: string, entries: readonly string[]): string[] {
  if (entries.length === 0) return [];
  return ["", `**${title}**`, "", ...entries.map((entry) => `- ${code(entry)}`)];
}

/** As code, text of somebody's own can neither begin a block nor mention, link or show an image. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll(/\s+/g, " ").trim()}\``;
}

/** The same in a table, whose cells end at a bar. */
function cell(text: string): string {
  return code(text.replaceAll("|", "\\|"));
}

function lines(...all: string[]): string {
  return `${all.join("\n")}\n`;
}
