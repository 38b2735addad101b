import { constants } from "node:fs";
import { type FileHandle, lstat, open, readFile, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { CliResult, OperationReply, OperationRequest } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { type ErrorCode, reason, StewardError } from "../contract/errors.ts";
import { CONFIG_FILE } from "../contract/names.ts";
import type { Request } from "../operations/registry.ts";
import { REQUEST_FLAG } from "../operations/reply.ts";
import { parseJson } from "../shared/json.ts";
import { createRedactor, MASK, redactValue } from "../shared/redact.ts";
import type { ProcessUser } from "./child.ts";
import { CUT_NOTE, runBoundedCommand, TIMED_OUT } from "./run-command.ts";
import type { Timers } from "./timers.ts";

/** Maximum size of a file to show, in bytes. */
const LARGEST_FILE = 1024 * 1024;
/** Flags for opening a file: a link is refused, and a pipe without a writer does not block. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Files that may be shown: current and earlier configs, and lists of who may write to the bot. All are JSON. */
const SHOWN: readonly RegExp[] = [
  new RegExp(String.raw`^${CONFIG_FILE.replace(".", String.raw`\.`)}(?:\.[\w.-]+)?$`),
  /^credentials\/\w+-(?:pairing|allowFrom|operators)\.json$/,
];
const NOT_SHOWN = `\`cat\` shows ${CONFIG_FILE}, its copies and the pairing files in credentials/. Use \`workspace show <file>\` for files of the workspace, \`devices list\` for browsers, and the page of the log for the log.`;

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "permission denied",
  // Opening a link with O_NOFOLLOW fails with this code.
  ELOOP: "links are not followed",
};

interface OperationsOptions {
  cli: readonly [string, ...string[]];
  environment: Environment;
  /** `cat` shows files in its folder. */
  configPath: string;
  user?: ProcessUser | undefined;
  timers: Timers;
}

/** Maximum concurrent operations. Their processes take memory from the gateway. */
const MAX_RUNNING = 4;
/** Like {@link MAX_RUNNING}, for a change: an operator's click is not refused because pages read lists. */
const MAX_WITH_CHANGES = MAX_RUNNING + 1;

export type RunOperation = (request: Unchecked) => Promise<OperationReply>;

type Unchecked = Partial<Record<keyof OperationRequest, unknown>>;

/**
 * Creates the function that runs operations for the console. Each operation except `cat` runs in a separate process
 * without a shell. The function rejects with `command_not_allowed`, `usage_invalid`, or, if too many operations are
 * running, `commands_busy`.
 */
export function createOperations(options: OperationsOptions): RunOperation {
  let running = 0;
  return async (request) => {
    // Loaded on demand, to keep the supervisor small.
    const { readRequest } = await import("../operations/registry.ts");
    const asked = readRequest(request.operation, request.input);
    const isChange = asked.operation.changes?.(asked.input) ?? false;
    if (running >= (isChange ? MAX_WITH_CHANGES : MAX_RUNNING)) throw new StewardError("commands_busy");
    running += 1;
    try {
      return await runOperation(options, asked);
    } finally {
      running -= 1;
    }
  };
}

async function runOperation(
  options: OperationsOptions,
  { operation, input }: Request,
): Promise<OperationReply> {
  const { cli, environment, configPath, user, timers } = options;
  if (operation.name === "cat") return runCat(options, input);
  const config = await readFile(configPath, "utf8").catch(() => "");
  // Loaded on demand, because the schema is large.
  const { secretValuesIn } = await import("../contract/config/text.ts");
  const secrets = secretValuesIn(config, environment);
  // JSON text contains a secret in its escaped form.
  const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  const redact = createRedactor(environment, [...secrets, ...escaped]);
  const text = JSON.stringify({ operation: operation.name, input });
  const command = [...cli, REQUEST_FLAG] as const;
  const result = await runBoundedCommand({ command, environment, user, input: text, redact, timers });
  const reply = readReply(result);
  // Redaction skips very short values, which occur in ordinary text. Mask such a value if it is the whole answer.
  if (reply.ok && typeof reply.value === "string" && reply.value !== "" && secrets.includes(reply.value))
    return { ...reply, value: MASK };
  return reply;
}

/** Shows a file without starting a process. */
async function runCat(
  { environment, configPath }: OperationsOptions,
  { file: name = "" }: { file?: string },
): Promise<OperationReply> {
  const file = await readDataFile(dirname(configPath), name);
  if (!file.ok) return failure("file_unreadable", `cat: ${name}: ${file.problem}`);
  const { text, notes } = await showJson(name, file.text, environment);
  return { ok: true, value: { text }, notes };
}

function readReply({ exitCode, stdout, stderr }: CliResult): OperationReply {
  const reply = parseJson(stdout) as OperationReply | undefined;
  if (reply !== undefined) return { ...reply, notes: stderr };
  const code = exitCode === TIMED_OUT ? "command_timed_out" : "command_failed";
  const why = stdout.endsWith(CUT_NOTE) ? "The answer is too long to be shown here." : stderr.trim();
  return failure(code, why || undefined);
}

function failure(code: ErrorCode, why?: string): OperationReply {
  const { detail, fix } = reason(code, why);
  return { ok: false, error: { code, message: detail, fix }, notes: "" };
}

/**
 * Returns a JSON file's text without secrets. If the JSON is invalid, masks all values and unknown keys, and adds a
 * note.
 */
async function showJson(
  name: string,
  text: string,
  environment: Environment,
): Promise<{ text: string; notes: string }> {
  const { jsonProblem } = await import("../contract/config/json-text.ts");
  const problem = jsonProblem(text);
  if (problem === undefined) {
    const { secretValuesIn } = await import("../contract/config/text.ts");
    // The file may be an older config with other secrets.
    const redact = createRedactor(environment, secretValuesIn(text, environment));
    return { text: `${JSON.stringify(redactValue(JSON.parse(text), redact), null, 2)}\n`, notes: "" };
  }
  const { maskValues } = await import("./config-secrets.ts");
  return {
    text: maskValues(text, createRedactor(environment)),
    notes: `cat: ${name}: ${problem.message}. Its values are masked.\n`,
  };
}

type DataFile = { ok: true; text: string } | { ok: false; problem: string };

/**
 * Reads a text file in the data directory by its relative or absolute path. Refuses links, including hard links.
 *
 * @throws StewardError `command_not_allowed` for files outside the directory or not in {@link SHOWN}.
 */
async function readDataFile(home: string, file: string): Promise<DataFile> {
  const inside = relative(home, resolve(home, file));
  if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) {
    throw new StewardError("command_not_allowed", `The file is outside the data directory ${home}.`);
  }
  if (!SHOWN.some((kind) => kind.test(inside))) throw new StewardError("command_not_allowed", NOT_SHOWN);
  let handle: FileHandle | undefined;
  try {
    const path = join(await realpath(home), inside);
    handle = await open(path, OPEN_FLAGS);
    return await readOpened(handle, path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { ok: false, problem: PROBLEMS[code] ?? "it cannot be read" };
  } finally {
    await handle?.close();
  }
}

async function readOpened(handle: FileHandle, path: string): Promise<DataFile> {
  const opened = await handle.stat({ bigint: true });
  if (!opened.isFile()) return { ok: false, problem: "not a regular file" };
  // The agent's tools may have replaced `path` with a link since the file was opened. Verify that `path` still leads
  // to that file.
  const named = await lstat(path, { bigint: true });
  const same = named.ino === opened.ino && named.dev === opened.dev && opened.nlink === 1n;
  if (!same || (await realpath(path)) !== path) return { ok: false, problem: "links are not followed" };
  if (opened.size > LARGEST_FILE) return { ok: false, problem: `larger than ${LARGEST_FILE} bytes` };
  const bytes = Buffer.alloc(LARGEST_FILE + 1);
  // The buffer limits the read even if the file grows meanwhile.
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  if (bytesRead > LARGEST_FILE) return { ok: false, problem: `larger than ${LARGEST_FILE} bytes` };
  const content = bytes.subarray(0, bytesRead);
  // Secrets can be recognised only in text.
  if (content.includes(0)) return { ok: false, problem: "not a text file" };
  return { ok: true, text: content.toString("utf8") };
}
