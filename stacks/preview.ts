/**
 * `npm run preview`: a stack's preview under the policies as Markdown, for a comment on a pull request. Changes
 * nothing. See `npm run preview -- --help`.
 */
import { writeFile } from "node:fs/promises";
import { runCommand, type Telling } from "./deployed/command.ts";
import { openDeployed, WHATEVER_TARGET } from "./deployed/stack.ts";
import { failureText, previewText } from "./preview/markdown.ts";
import { readOptions, type PreviewOptions } from "./preview/options.ts";
import { causeOf } from "./rehearsal/cause.ts";
import { lookBefore } from "./rollout/look.ts";
import { EXIT } from "./rollout/options.ts";
import { planUpdate, type UpdatePlan } from "./rollout/plan.ts";

async function main(argv: string[], telling: Telling): Promise<number> {
  const { say, report } = telling;
  const options = await readOptions(argv);
  const plan = await planned(options, telling).catch(async (error: unknown) => {
    await writeFile(options.out, failureText(options.stack, causeOf(error)));
    throw error;
  });
  await writeFile(options.out, previewText(options.stack, plan));
  say(`\n${plan.summary}\nWritten to ${options.out}\n`);
  const exit = plan.broken.length === 0 ? EXIT.done : EXIT.refused;
  report({ ok: exit === EXIT.done, exit, ...plan });
  return exit;
}

async function planned({ stack: name, ...options }: PreviewOptions, telling: Telling): Promise<UpdatePlan> {
  const log = (line: string): void => telling.say(`${line}\n`);
  const { stack, close } = await openDeployed(name, { ...WHATEVER_TARGET, log });
  try {
    return await planUpdate(stack, await lookBefore(stack, false), { ...options, canary: [] }, telling);
  } finally {
    await close();
  }
}

await runCommand(main);
