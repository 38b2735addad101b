/**
 * `npm run backup`: the backups of a deployed stack, made and checked by the service itself. See
 * `npm run backup -- --help`.
 */
import { ERRORS, StewardError } from "../runtime/contract/errors.ts";
import { readOptions } from "./backup/options.ts";
import { stackBackups, type StackBackups } from "./backup/signed.ts";
import { runCommand, type Telling } from "./deployed/command.ts";
import { resourcesOf } from "./deployed/resources.ts";
import { openDeployed } from "./deployed/stack.ts";
import { addressOf } from "./rollout/answers.ts";

const NOT_FINE = 2;

async function main(argv: string[], { say, report }: Telling): Promise<number> {
  const { stack: name, create, verify } = readOptions(argv);
  const { stack, close } = await openDeployed(name, {
    // Its state and outputs alone are read.
    providers: [],
    docker: false,
    log: (line) => say(`${line}\n`),
  });
  try {
    const backups = stackBackups(await addressOf(stack), await resourcesOf(stack));
    if (backups === undefined) throw new StewardError("stack_not_deployed");
    if (create) say(`Made ${(await backups.create()).id}.\n`);
    const { backups: list, problem } = await backups.list();
    for (const { id, createdAt } of list) say(`${id}  ${createdAt}\n`);
    const problems = [
      ...(list.length === 0 ? ["There is no backup."] : []),
      ...(problem === undefined ? [] : [`${problem.detail} (${problem.code})`]),
      ...(verify && list.length > 0 ? await drill(backups, say) : []),
    ];
    say(problems.map((problem) => `${problem}\n`).join(""));
    report({ ok: problems.length === 0, backups: list, problems });
    return problems.length === 0 ? 0 : NOT_FINE;
  } finally {
    await close();
  }
}

async function drill(backups: StackBackups, say: Telling["say"]): Promise<string[]> {
  try {
    const { backup, report } = await backups.verify();
    say(`${backup.id} is whole.\n`);
    return report.configProblems.map(({ path, message }) => `Its config: ${path} ${message}`);
  } catch (error) {
    // Everything else is that the drill could not be held.
    if (!(error instanceof StewardError) || error.code !== "backup_corrupt") throw error;
    return [`${error.message} Fix: ${ERRORS[error.code].fix}`];
  }
}

await runCommand(main);
