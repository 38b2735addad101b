/**
 * `npm run preview`: a stack's preview under the policies as Markdown, for a comment on a pull request. Changes
 * nothing. See `npm run preview -- --help`.
 */
import "./late-modules.ts";
import { commandLine } from "../../infra/shell/package.ts";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Argument } from "commander";
import { causeOf } from "../../infra/shell/failure.ts";
import { type CommandOutput, commandParser, runCommand } from "../../infra/shell/command.ts";
import { openDeployed } from "./deployed/stack.ts";
import { readPolicyConfig } from "./policies/options.ts";
import { lookBefore } from "./rollout/inspect.ts";
import { EXIT } from "./rollout/options.ts";
import { planUpdate, type UpdatePlan } from "./rollout/plan.ts";

/** A comment on GitHub holds 65,536 characters. */
const MOST_STEPS = 200;
const MOST_CHARACTERS = 20_000;

const SCRIPT = commandLine("preview");

async function main(argv: string[], output: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Writes a stack's preview under the policies as Markdown. Changes nothing.",
  )
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--out <file>", "where the Markdown goes (default: .steward/previews/<stack>.md)")
    .option("--config <file>", "a policy configuration: the levels and values of the rules")
    .option("--backup <time>", "when the last backup was taken, as ISO 8601")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 3 a mandatory policy is broken, 2 wrong words, 1 any other failure.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const words = command.opts<{ out?: string; config?: string; backup?: string }>();
  const file = words.out ?? path.join(".steward/previews", `${stack}.md`);
  const write = async (text: string): Promise<void> => {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  };

  const options = { ...(await readPolicyConfig(words)), stack, accept: undefined };
  const plan = await planned(stack, options, output).catch(async (error: unknown) => {
    await write(failureText(stack, causeOf(error)));
    throw error;
  });
  await write(previewText(stack, plan));
  output.say(`\n${plan.summary}\nWritten to ${file}\n`);
  const exit = plan.broken.length === 0 ? EXIT.done : EXIT.refused;
  output.report({ ok: exit === EXIT.done, exit, ...plan });
  return exit;
}

async function planned(
  name: string,
  options: Parameters<typeof planUpdate>[2],
  output: CommandOutput,
): Promise<UpdatePlan> {
  const stack = await openDeployed(name, { runsProgram: true, log: output.log });
  return planUpdate(stack, await lookBefore(stack), options, output);
}

await runCommand(SCRIPT, main);

/** Returns what an update would do, and what stops it. Names and types alone: a value may be a secret. */
function previewText(stack: string, { summary, steps, broken, gates }: UpdatePlan): string {
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
function failureText(stack: string, cause: string): string {
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
