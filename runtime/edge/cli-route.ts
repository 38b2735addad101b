import { backupsText, madeText, wholeText } from "../shared/backup-texts.ts";
import type { Handler } from "hono";
import type { CliResult } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { type Operation, readOperation, splitWords } from "../contract/operations.ts";
import { type AccessVariables, askToContinue, isDeliberate } from "./access.ts";
import { readFields } from "./form.ts";
import { operate, inTime } from "./operate.ts";
import type { Backups, RecordChange, Sandbox } from "./ports.ts";

/** An archive of some size, and where it is stopped a container's start before. */
const LIMIT_MS = 60_000;
/** As of the other commands whose time is over. */
const TIMED_OUT = 124;
const GOES_ON = `This takes longer than ${LIMIT_MS / 1_000} seconds and continues in the background.`;

/** {@link splitWords} tells what a line may hold. */
const ANY = /^/;

/** Dependencies of `/debug/cli`. */
interface CliOptions {
  sandbox: Sandbox;
  backups: Backups;
  log: Log;
  record: RecordChange;
}

/** Runs one line of the allow-list in the container for an operator, with the gateway up or down. */
type RunLine = (line: Line, by: string) => Promise<{ command: string } & CliResult>;

/** A line that the list allows. It is read before the container is asked, so that a wrong one wakes nothing. */
interface Line {
  command: string;
  words: string[];
  operation: Operation;
}

/** @throws StewardError `command_not_allowed` */
function readLine(command: string): Line {
  const words = splitWords(command);
  return { command, words, operation: readOperation(words) };
}

function changes({ operation }: Line): boolean {
  return operation.kind === "command" && operation.changes;
}

/** Creates what `/debug/cli` runs its lines with. It starts a stopped container. */
export function createLineRunner({ sandbox, backups, log, record }: CliOptions): RunLine {
  return async (line, by) => {
    const { command, words, operation } = line;
    log.info("operator runs a command", { by, command });
    if (changes(line)) await record(by, "command", command);
    const isBackup = operation.kind === "command" && operation.args[0] === "backup";
    const result = isBackup ? await runBackupCommand(backups, operation.args) : await operate(sandbox, words);
    return { command, ...result };
  };
}

/** `GET /debug/cli?cmd=`: runs a line. A change runs only if no other site can have caused the request. */
export function debugCli(run: RunLine): Handler<AccessVariables> {
  return async function handleCli(context) {
    const line = readLine(context.req.query("cmd") ?? "");
    const identity = context.get("identity");
    if (changes(line) && !isDeliberate(context.req.raw, identity)) return askToContinue(context, "post");
    return context.json(await run(line, identity.name));
  };
}

/** `POST /debug/cli`, with `cmd` as a form field: runs a line that may change something. */
export function changeByCli(run: RunLine): Handler<AccessVariables> {
  return async function handleChangeByCli(context) {
    const { cmd } = await readFields(context.req.raw, { cmd: ANY });
    return context.json(await run(readLine(cmd), context.get("identity").name));
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
