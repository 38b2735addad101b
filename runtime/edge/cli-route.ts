import type { Handler } from "hono";
import type { CliResult, OperationReply } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { backup } from "../operations/backup.ts";
import { type Names, type Operation, withoutUndo } from "../operations/operation.ts";
import { people } from "../operations/people.ts";
import { notAllowed } from "../operations/registry.ts";
import { replyOf } from "../operations/reply.ts";
import { type Line, readCommandLine, splitWords } from "../operations/words.ts";
import { type AccessVariables, askToContinue, isTrustedSource } from "./access.ts";
import { readFields } from "./form.ts";
import { knownNames } from "./ledger-routes.ts";
import { askOperation, commandTimeout } from "./operate.ts";
import type { Backups, NameDirectory, NameEntry, RecordChange, Sandbox } from "./ports.ts";

/**
 * Timeout, in milliseconds, of operations at the edge. Allows for a large archive and the start of a stopped
 * container.
 */
const LIMIT_MS = 60_000;
/** Exit code of a timeout, as in coreutils' `timeout`. */
const TIMED_OUT = 124;
const CONTINUES = `This takes longer than ${LIMIT_MS / 1_000} seconds and continues in the background.`;

/** Accepts any line; {@link splitWords} validates it. */
const ANY = /^/;

interface CliOptions {
  sandbox: Sandbox;
  directory: NameDirectory;
  backups: Backups;
  log: Log;
  record: RecordChange;
}

/** Runs a command line for an operator, even while the gateway is down. */
type RunLine = (line: TypedLine, by: string) => Promise<{ command: string } & CliResult>;

/** An allowed command line, parsed before the container starts. */
interface TypedLine extends Line {
  command: string;
}

/**
 * Operations that run at the edge, because a serverless container can access neither the backup bucket nor the
 * directory of names.
 */
const AT_EDGE: readonly Operation<object, unknown, EdgeTools>[] = [
  backup.list,
  backup.create,
  backup.verify,
  people.list,
];

interface EdgeTools extends Pick<CliOptions, "backups"> {
  people(most: number): Promise<NameEntry[]>;
}

/** @throws StewardError `command_not_allowed`, `usage_invalid` */
function readTyped(command: string): TypedLine {
  const line = readCommandLine(splitWords(command), "console");
  if ("help" in line) throw notAllowed();
  return { command, ...line };
}

function changes({ operation, input }: Line): boolean {
  return operation.changes?.(input) ?? false;
}

/** Creates the function that runs command lines for `/debug/cli`. A command that needs the container starts it. */
export function createLineRunner({ sandbox, directory, backups, log, record }: CliOptions): RunLine {
  const listPeople = async (limit: number) => (await directory.entries({ kind: "person", limit })).entries;
  return async (line, by) => {
    const { command, operation, input } = line;
    log.info("operator runs a command", { by, command });
    if (changes(line)) await record(by, "command", command);
    const here = AT_EDGE.find(({ name }) => name === operation.name);
    const reply =
      here === undefined
        ? await askOperation(sandbox, operation, input)
        : await runInEdge(() => here.run({ backups, people: listPeople }, input));
    if (reply.ok && here === backup.verify) await record(by, "verify", String(Object(input).id));
    return { command, ...(await print(line, reply, (keys) => knownNames(directory, keys))) };
  };
}

/**
 * `GET /debug/cli?cmd=`: runs a command line. If it changes something and another site may have sent the request, asks
 * for confirmation instead.
 */
export function debugCli(run: RunLine): Handler<AccessVariables> {
  return async function handleCli(context) {
    const line = readTyped(context.req.query("cmd") ?? "");
    const identity = context.get("identity");
    if (changes(line) && !isTrustedSource(context.req.raw, identity)) return askToContinue(context, "post");
    return context.json(await run(line, identity.name));
  };
}

/** `POST /debug/cli`: runs the command line in the form field `cmd`, without asking for confirmation. */
export function changeByCli(run: RunLine): Handler<AccessVariables> {
  return async function handleChangeByCli(context) {
    const { cmd } = await readFields(context.req.raw, { cmd: ANY });
    return context.json(await run(readTyped(cmd), context.get("identity").name));
  };
}

/** Formats a reply as the `steward` command would, and adds people's names from the {@link NameDirectory}. */
async function print(
  { operation, input, json }: Line,
  reply: OperationReply,
  named: (keys: readonly string[]) => Promise<Names>,
): Promise<CliResult> {
  if (!reply.ok) return printFailure(reply, json);
  const { value, notes } = reply;
  const parsed = operation.output().safeParse(value);
  if (!parsed.success) throw new StewardError("command_failed");
  const exitCode = operation.failed?.(parsed.data) ? 1 : 0;
  if (json) return { exitCode, stdout: asJson(withoutUndo(value)), stderr: notes };
  const names = await named(operation.keys?.(parsed.data) ?? []);
  const text = await replyOf(() => operation.text(parsed.data, input, names));
  if (!text.ok) return printFailure({ ...text, notes }, json);
  const warnings = (operation.warnings?.(parsed.data) ?? []).map((warning) => `${warning}\n`);
  const end = operation.verbatim ? "" : "\n";
  return { exitCode, stdout: `${String(text.value)}${end}`, stderr: [notes, ...warnings].join("") };
}

function printFailure(reply: Extract<OperationReply, { ok: false }>, json: boolean): CliResult {
  const { code, message, fix } = reply.error;
  return {
    exitCode: code === "command_timed_out" ? TIMED_OUT : 1,
    stdout: json ? asJson({ error: { code, message, fix } }) : "",
    stderr: `${reply.notes}${message}\nFix: ${fix}\n`,
  };
}

/** An operation that exceeds the timeout continues, and the reply says so. */
async function runInEdge(run: () => unknown): Promise<OperationReply> {
  const reply = await replyOf(() => commandTimeout(LIMIT_MS, Promise.resolve(run())));
  if (reply.ok || reply.error.code !== "command_timed_out") return reply;
  return { ...reply, error: { ...reply.error, message: CONTINUES } };
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
