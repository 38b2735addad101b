import { sinkOf, type CommandOptions, openDeployed } from "../deployed/stack.ts";
import type { PolicyOptions } from "../policies/preview.ts";
import { readBaseline } from "../rollout/inspect.ts";
import { planUpdate, type UpdatePlan } from "../rollout/plan.ts";

/** A comment on GitHub holds 65,536 characters. */
const MOST_STEPS = 200;
const MOST_CHARACTERS = 20_000;

/** Preview of an update under the policies. */
export interface PreviewResult extends UpdatePlan {
  /** The preview for a comment on a pull request, without values of properties. */
  markdown: string;
}

/**
 * Previews an update of a stack under the policies. Changes nothing. A broken policy is in the result.
 *
 * @throws StewardError, BuildFailure if there is no preview; {@link failedPreview} turns that into Markdown
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

/** Returns the plan as Markdown. It has names and types only, because values may be secret. */
export function previewText(
  stack: string,
  { summary, steps, broken, gates }: Pick<UpdatePlan, "summary" | "steps" | "broken" | "gates">,
): string {
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

/** Returns the Markdown for a pull request whose preview failed. */
export function failedPreview(stack: string, cause: string): string {
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

/** Formats foreign text as inline code, so that it can neither begin a block nor mention, link or show an image. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll(/\s+/g, " ").trim()}\``;
}

/** Formats foreign text as inline code in a table's cell, where a bar has to be escaped. */
function cell(text: string): string {
  return code(text.replaceAll("|", "\\|"));
}

function lines(...all: string[]): string {
  return `${all.join("\n")}\n`;
}
