import { backupsText, madeText, wholeText } from "../shared/backup-texts.ts";
import type { Handler } from "hono";
import type { CliResult } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { readOperation, splitWords } from "../contract/operations.ts";
import { type AccessVariables, askToContinue, mayBeForged } from "./access.ts";
import { operate, inTime } from "./operate.ts";
import type { Backups, RecordChange, Sandbox } from "./ports.ts";

/** An archive of some size, and where it is stopped a container's start before. */
const LIMIT_MS = 60_000;
/** As of the other commands whose time is over. */
const TIMED_OUT = 124;
const GOES_ON = `This takes longer than ${LIMIT_MS / 1_000} seconds and continues in the background.`;

/** Dependencies of `/debug/cli`. */
interface CliOptions {
  sandbox: Sandbox;
  backups: Backups;
  log: Log;
  record: RecordChange;
}

/**
 * `GET /debug/cli?cmd=`: runs one line of the allow-list in the container, with the gateway up or down;
 * starts a stopped container. The line is checked before, so that a wrong one wakes nothing.
 */
export function debugCli({ sandbox, backups, log, record }: CliOptions): Handler<AccessVariables> {
  return async function handleCli(context) {
    const command = context.req.query("cmd") ?? "";
    const words = splitWords(command);
    const operation = readOperation(words);
    if (operation.kind === "command" && operation.changes && mayBeForged(context.req.raw)) {
      return askToContinue(context);
    }
    const by = context.get("identity").name;
    log.info("operator runs a command", { by, command });
    if (operation.kind === "command" && operation.changes) await record(by, "command", command);
    const isBackup = operation.kind === "command" && operation.args[0] === "backup";
    const result = isBackup ? await runBackupCommand(backups, operation.args) : await operate(sandbox, words);
    // An answer out of a cache would stand for a command that was not run.
    context.header("cache-control", "no-store");
    return context.json({ command, ...result });
  };
}

/**
 * Runs `backup list|create|verify` on the copies of this deployment, in the form of the command line. On the
 * serverless stack they lie in the bucket, where the container's own command line does not see them.
 */
async function runBackupCommand(backups: Backups, args: readonly string[]): Promise<CliResult> {
  const json = args.includes("--json");
  try {
    const { value, text } = await inTime(LIMIT_MS, answer(backups, args));
    return { exitCode: 0, stdout: json ? asJson(value) : `${text}\n`, stderr: "" };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const { code, detail, fix } = error.reason;
    const late = code === "command_timed_out";
    const message = late ? GOES_ON : detail;
    return {
      exitCode: late ? TIMED_OUT : 1,
      stdout: json ? asJson({ error: { code, message, fix } }) : "",
      stderr: `${message}\nFix: ${fix}\n`,
    };
  }
}

async function answer(
  backups: Backups,
  [, verb, id = ""]: readonly string[],
): Promise<{ value: unknown; text: string }> {
  if (verb === "create") {
    const manifest = await backups.create({ cause: "operator" });
    return { value: manifest, text: madeText(manifest) };
  }
  if (verb === "verify") {
    const report = await backups.verify(id);
    return { value: report, text: wholeText(report) };
  }
  const list = await backups.list();
  return { value: { backups: list }, text: backupsText(list) };
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
