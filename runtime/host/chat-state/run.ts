import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Archive } from "../../backups/store.ts";
import { isErrorCode, StewardError } from "../../contract/errors.ts";
import type { Environment } from "../../contract/variables.ts";
import { runtimeProgramFile } from "../../process/programs.ts";
import { parseJson } from "../../shared/json.ts";
import type { ProcessUser } from "../../supervisor/child.ts";
import { SMALL_HEAP } from "../../supervisor/memory.ts";
import { readCopy, writeCopy } from "./stream.ts";

const LONGEST_ERROR = 4_000;

export function chatStateCommand(): [string, ...string[]] {
  return [process.execPath, ...SMALL_HEAP, runtimeProgramFile("host/chat-state/main")];
}

export interface ChatStateRun {
  stdin: Writable;
  stdout: Readable;
  /** Resolves if the program succeeds. Rejects with the program's error if it fails. */
  ended: Promise<void>;
}

interface RunOptions {
  home: string;
  user: ProcessUser;
  /** Program, task and the task's arguments. */
  command: readonly [string, ...string[]];
  environment: Environment;
}

export function startIn({ home, user, command, environment }: RunOptions): ChatStateRun {
  const {
    command: [file, ...args],
    options,
  } = user.as(command);
  const child = spawn(file, args, {
    env: { ...environment, STEWARD_HOME: home, HOME: home },
    stdio: ["pipe", "pipe", "pipe"],
    ...options,
  });
  // Ignore the broken pipe of a program that ends early: the program's own error says more.
  child.stdin.on("error", () => {});
  const ended = endOf(child);
  ended.catch(() => {});
  return { stdin: child.stdin, stdout: child.stdout, ended };
}

async function endOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<void> {
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-LONGEST_ERROR);
  });
  const [code, signal] = await once(child, "close");
  if (code !== 0) throw failureOf(errors, `The program that copies a chat ended with ${code ?? signal}.`);
}

export async function sendTo({ stdin, ended }: ChatStateRun, archive: Archive): Promise<void> {
  const [sent] = await Promise.allSettled([pipeline(writeCopy(archive), stdin)]);
  await ended;
  if (sent.status === "rejected") throw sent.reason;
}

/**
 * Returns the backup that the chat-state program writes to stdout. If the program fails after this function has
 * returned, reading the returned backup's `content` throws the program's error.
 */
export async function receiveFrom({ stdout, ended }: ChatStateRun): Promise<Archive> {
  try {
    const { manifest, content } = await readCopy(stdout);
    return { manifest, content: untilEnded(content, ended) };
  } catch (error) {
    await ended;
    throw error;
  }
}

async function* untilEnded(
  content: AsyncIterable<Uint8Array>,
  ended: Promise<void>,
): AsyncGenerator<Uint8Array> {
  yield* content;
  await ended;
}

/**
 * Returns the error that the program wrote in its last line. Ignores earlier lines, because a chat may have caused
 * them.
 */
function failureOf(errors: string, otherwise: string): StewardError {
  const last = errors.trim().split("\n").at(-1) ?? "";
  const { code, detail } = Object(parseJson(last)) as { code?: unknown; detail?: unknown };
  if (isErrorCode(code) && typeof detail === "string") return new StewardError(code, detail);
  return new StewardError("backup_failed", last === "" ? otherwise : `${otherwise} ${last}`);
}
