import { sinkOf, type CommandOptions, openDeployed } from "../deployed/stack.ts";
import type { PolicyOptions } from "../policies/preview.ts";
import { readBaseline } from "../rollout/inspect.ts";
import { planUpdate, type UpdatePlan } from "../rollout/plan.ts";

/** Maximum number of steps shown, because a GitHub comment is limited to 65,536 characters. */
const MAX_STEPS = 200;
const MAX_CHARACTERS = 20_000;

export interface PreviewResult extends UpdatePlan {
  /** Markdown for a pull request comment, without property values. */
  markdown: string;
}

/**
 * Previews a stack's update and checks it against the policies. Changes nothing.
 *
 * @throws StewardError or BuildFailure if the preview fails. {@link failedPreview} formats the error as Markdown.
 */
export async function preview(
  stackName: string,
  options: CommandOptions & PolicyOptions = {},
): Promise<PreviewResult> {
  const stack = await openDeployed(stackName, { ...options, runsProgram: true });
  const approvals = { ...options, stack: stackName, accept: undefined };
  const plan = await planUpdate(stack, await readBaseline(stack), approvals, sinkOf(options));
  return { ...plan, markdown: previewText(stackName, plan) };
}

/** Formats a preview as Markdown. Shows only names and types, because values may be secret. */
export function previewText(
  stack: string,
  { summary, steps, broken, gates }: Pick<UpdatePlan, "summary" | "steps" | "broken" | "gates">,
): string {
  const shown = steps
    .slice(0, MAX_STEPS)
    .map(({ op, type, name }) => `| ${op} | ${cell(type)} | ${cell(name)} |`);
  const more = steps.length > shown.length ? [`\n… and ${steps.length - shown.length} more.`] : [];
  return lines(
    `### Preview of ${code(stack)}`,
    "",
    broken.length === 0 ? summary : `**Stopped by a policy.** ${summary}`,
    ...listed("Broken policies", broken),
    ...listed("Needs approval", gates),
    ...(shown.length === 0 ? [] : ["", "| | type | name |", "|---|---|---|", ...shown, ...more]),
  );
}

export function failedPreview(stack: string, cause: string): string {
  // Use more backticks than any run in `cause`, so that `cause` cannot close the code block.
  const fence = "`".repeat(Math.max(3, ...[...cause.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return lines(
    `### Preview of ${code(stack)}`,
    "",
    "**The preview failed.**",
    "",
    fence,
    cause.slice(0, MAX_CHARACTERS),
    fence,
  );
}

function listed(title: string, entries: readonly string[]): string[] {
  if (entries.length === 0) return [];
  return ["", `**${title}**`, "", ...entries.map((entry) => `- ${code(entry)}`)];
}

/** Formats untrusted text as inline code, so that it cannot contain mentions, links or images. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll(/\s+/g, " ").trim()}\``;
}

/** Formats a table cell as inline code. Escapes vertical bars. */
function cell(text: string): string {
  return code(text.replaceAll("|", "\\|"));
}

function lines(...all: string[]): string {
  return `${all.join("\n")}\n`;
}
