import { ERRORS, reason, type ErrorCode, type Reason } from "../contract/errors.ts";

/** How a run of the gateway ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What it wrote to its standard error, oldest line first. */
  stderr: readonly string[];
  /** It was killed because its port did not answer in time; milliseconds that it had. */
  silentForMs?: number;
  /** The kernel killed for the container's memory during the run. */
  outOfMemory?: boolean;
  /** It could not be started at all. */
  spawnError?: string;
}

/** Why it ended. `permanent`: a new attempt with the same file and environment cannot end otherwise. */
export interface Failure {
  reason: Reason;
  permanent: boolean;
}

const PERMANENT: ReadonlySet<ErrorCode> = new Set([
  "config_invalid",
  "data_newer",
  "dm_policy_set",
  "environment_invalid",
]);
const CODED = /^Error \[(\w+)\]: (.*)$/;
const OUT_OF_MEMORY = /heap out of memory|Allocation failed/;
/** What Node prints around an uncaught error: the frames, and its own version at the end. */
const NOISE = /^\s*at |^Node\.js v|^\s*$|^[\s^]+$|^Fix: /;
const LONGEST_DETAIL = 500;

/** Reads the cause of an end from what the process said last. */
export function readFailure(exit: Exit): Failure {
  const found = causeOf(exit);
  return { reason: found, permanent: PERMANENT.has(found.code) };
}

function causeOf({ code, signal, stderr, silentForMs, outOfMemory, spawnError }: Exit): Reason {
  if (spawnError !== undefined) return reason("crash_looping", `It cannot be started: ${spawnError}.`);
  if (silentForMs !== undefined) {
    const seconds = Math.round(silentForMs / 1_000);
    return reason("gateway_not_ready", `Its port did not answer within ${seconds} s, so it was ended.`);
  }
  if (signal === "SIGKILL" && outOfMemory) return reason("out_of_memory");
  const config = stderr.findIndex((line) => line.startsWith("Invalid config at "));
  if (config !== -1) {
    const lines = stderr.slice(config).filter((line, index) => index === 0 || line.startsWith("- "));
    return reason("config_invalid", lines.join("\n"));
  }
  const [, name, detail] = stderr.map((line) => CODED.exec(line)).findLast((match) => match !== null) ?? [];
  if (name !== undefined && isErrorCode(name)) return reason(name, detail);
  if (signal === "SIGKILL" || stderr.some((line) => OUT_OF_MEMORY.test(line))) {
    return reason("crash_looping", "It was killed for too little memory, or by hand (SIGKILL).");
  }
  const last =
    stderr.findLast((line) => /^(?:Uncaught )?\w*Error\b.*:/.test(line)) ?? stderr.findLast(speaks);
  const how = signal === null ? `It exited with code ${code}` : `It was ended by ${signal}`;
  return reason(
    "crash_looping",
    (last === undefined ? `${how}.` : `${how}: ${last}`).slice(0, LONGEST_DETAIL),
  );
}

function speaks(line: string): boolean {
  return !NOISE.test(line);
}

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(ERRORS, name);
}
