import { parseJson } from "../shared/json.ts";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { GATEWAY_ROUTES } from "../contract/control.ts";
import { type ErrorCode, isErrorCode, reason, type Reason } from "../contract/errors.ts";
import type { Child } from "./child.ts";
import type { Output } from "./output.ts";
import type { Timers } from "./timers.ts";

const PERMANENT: ReadonlySet<ErrorCode> = new Set([
  "config_invalid",
  "data_newer",
  "data_older",
  "dm_policy_set",
  "environment_invalid",
]);
const CODED = /^Error \[(\w+)\]: (.*)$/;
const OUT_OF_MEMORY = /heap out of memory|Allocation failed/;
/** Lines around an uncaught error: stack frames, Node's version, suggested fixes. */
const NOISE = /^\s*at |^Node\.js v|^\s*$|^[\s^]+$|^Fix: /;
const LONGEST_DETAIL = 500;

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
const READY_WITHIN_MS = 2_000;

/** Default liveness probes. They are lenient, because a small instance answers late under load. */
export const DEFAULT_LIVENESS: LivenessPolicy = { everyMs: 10_000, answerMs: 10_000, misses: 3 };

/** Times are in milliseconds. */
interface RunOptions {
  child: Child;
  host: string;
  port: number;
  /** User that must own the port, so that no other user's process can answer. */
  user?: number | undefined;
  startTimeoutMs: number;
  liveness: LivenessPolicy;
  timers: Timers;
  output: Output;
  /** Called at most once, when the port answers. */
  onReady(version: string | undefined): void;
  /** Called when a ready gateway stops answering, and when it answers again. */
  onSilent(isSilent: boolean): void;
  /** Called when the process has ended without a stop request. */
  onEnd(exit: Exit): void;
}

export interface GatewayRun {
  pid: number | null;
  /** True if a ready gateway did not answer the last probe. */
  readonly isSilent: boolean;
  /** Sends SIGTERM, then SIGKILL after the grace period. Resolves when the process and its children are gone. */
  stop(graceMs: number): Promise<void>;
}

export function startGatewayRun(options: RunOptions): GatewayRun {
  const { child, host, port, user, startTimeoutMs, liveness, timers, output } = options;
  const { onReady, onSilent, onEnd } = options;
  let stopping = false;
  let isSilent = false;
  let silentForMs: number | undefined;
  child.read((stream, text) => output.write(stream, text));
  const giveUp = (ms: number): void => {
    silentForMs = ms;
    child.kill("SIGKILL");
  };
  const stopTimeout = timers.after(startTimeoutMs, () => giveUp(startTimeoutMs));
  const ready = (version: string | undefined): void => {
    stopTimeout();
    const heard = (silent: boolean): void => {
      isSilent = silent;
      onSilent(silent);
    };
    stopProbe = probeWhileReady({ host, port, timers, onSilent: heard, onHung: giveUp }, liveness);
    onReady(version);
  };
  let stopProbe = probeUntilReady({ host, port, user, pid: child.pid ?? -1, timers, onReady: ready });
  const watch = async (): Promise<void> => {
    const exit = await child.exited;
    stopProbe();
    stopTimeout();
    const stderr = output.endRun();
    if (!stopping) onEnd({ ...exit, stderr, ...(silentForMs !== undefined && { silentForMs }) });
  };
  const ended = watch();
  return {
    pid: child.pid,
    get isSilent() {
      return isSilent;
    },
    stop: async (graceMs) => {
      stopping = true;
      stopProbe();
      stopTimeout();
      child.kill("SIGTERM");
      const force = timers.after(graceMs, () => child.kill("SIGKILL"));
      await ended;
      force();
    },
  };
}

interface ProbeOptions {
  host: string;
  port: number;
  /** Id of the process that must answer on the port. */
  pid: number;
  user?: number | undefined;
  timers: Timers;
  onReady(version: string | undefined): void;
}

/** Returns a function that stops the probes. */
function probeUntilReady({ host, port, pid, user, timers, onReady }: ProbeOptions): () => void {
  let ended = false;
  let cancel: (() => void) | undefined;
  const ask = async (pause: number): Promise<void> => {
    const answer = await readiness(host, port, READY_WITHIN_MS);
    if (ended) return;
    const isOwn = answer?.pid === pid && (user === undefined || ownerOfPort(port) === user);
    if (isOwn) onReady(answer.version);
    else cancel = timers.after(pause, () => void ask(Math.min(pause * 1.5, LONGEST_PAUSE_MS)));
  };
  cancel = timers.after(FIRST_PAUSE_MS, () => void ask(FIRST_PAUSE_MS));
  return () => {
    ended = true;
    cancel?.();
  };
}

const LISTENS = "0A";

/**
 * Returns the user id of the process that listens on a loopback port:
 * https://docs.kernel.org/networking/proc_net_tcp.html
 */
function ownerOfPort(port: number): number | undefined {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, local, , state, , , , uid] = line.trim().split(/\s+/);
    if (local === address && state === LISTENS) return Number(uid);
  }
  return undefined;
}

export interface LivenessPolicy {
  /** Milliseconds between the end of a probe and the next one. */
  everyMs: number;
  /** Timeout of a probe in milliseconds. */
  answerMs: number;
  /** Consecutive probes without an answer. */
  misses: number;
}

interface LivenessOptions extends Omit<ProbeOptions, "pid" | "onReady">, Pick<RunOptions, "onSilent"> {
  onHung(silentForMs: number): void;
}

/** Returns a function that stops the probes. */
function probeWhileReady(
  { host, port, timers, onSilent, onHung }: LivenessOptions,
  { everyMs, answerMs, misses }: LivenessPolicy,
): () => void {
  let ended = false;
  let missed = 0;
  const ask = async (): Promise<void> => {
    const asked = timers.now();
    const answer = await readiness(host, port, answerMs);
    if (ended) return;
    if ((answer === undefined) !== missed > 0) onSilent(answer === undefined);
    missed = answer === undefined ? missed + 1 : 0;
    if (missed < misses) cancel = timers.after(everyMs, () => void ask());
    else onHung(timers.now() - asked + (misses - 1) * everyMs);
  };
  let cancel = timers.after(everyMs, () => void ask());
  return () => {
    ended = true;
    cancel();
  };
}

interface Readiness {
  pid: unknown;
  version: string | undefined;
}

/** Sends one probe. Uses Node's plain client, because loading `fetch` is slow. */
function readiness(host: string, port: number, withinMs: number): Promise<Readiness | undefined> {
  return new Promise((resolve) => {
    const request = get({ host, port, path: GATEWAY_ROUTES.ready, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve(response.statusCode === 200 ? parse(body) : undefined));
      response.on("error", () => resolve(undefined));
    });
    request.setTimeout(withinMs, () => request.destroy());
    request.on("error", () => resolve(undefined));
    request.on("close", () => resolve(undefined));
  });
}

function parse(body: string): Readiness | undefined {
  const value = parseJson(body);
  // Another program may answer on the port.
  if (typeof value !== "object" || value === null || !("pid" in value)) return undefined;
  const version = "version" in value && typeof value.version === "string" ? value.version : undefined;
  return { pid: value.pid, version };
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Oldest first. */
  stderr: readonly string[];
  /** Set if the process was killed because its port did not answer within this time. */
  silentForMs?: number;
  /** True if the kernel OOM-killed a process in the container during the run. */
  outOfMemory?: boolean;
  spawnError?: string;
}

/** Cause of a run's end. `permanent` is true if another attempt would fail again. */
interface Failure {
  reason: Reason;
  permanent: boolean;
}

export function readFailure(exit: Exit): Failure {
  const found = causeOf(exit);
  return { reason: found, permanent: PERMANENT.has(found.code) };
}

function causeOf({ code, signal, stderr, silentForMs, outOfMemory, spawnError }: Exit): Reason {
  if (spawnError !== undefined) return reason("crash_looping", `It cannot be started: ${spawnError}.`);
  if (silentForMs !== undefined) {
    const seconds = Math.round(silentForMs / 1_000);
    return reason("gateway_not_ready", `Its port did not answer within ${seconds} s, so it was killed.`);
  }
  if (signal === "SIGKILL" && outOfMemory) return reason("out_of_memory");
  const config = stderr.findIndex((line) => line.startsWith("Invalid config at "));
  if (config !== -1) {
    const lines = stderr.slice(config).filter((line, index) => index === 0 || line.startsWith("- "));
    return reason("config_invalid", lines.join("\n"));
  }
  const [, name, detail] = stderr.map((line) => CODED.exec(line)).findLast((match) => match !== null) ?? [];
  if (isErrorCode(name)) return reason(name, detail);
  if (signal === "SIGKILL" || stderr.some((line) => OUT_OF_MEMORY.test(line))) {
    return reason(
      "crash_looping",
      "The process was killed with SIGKILL: it ran out of memory, or somebody killed it.",
    );
  }
  const last =
    stderr.findLast((line) => /^(?:Uncaught )?\w*Error\b.*:/.test(line)) ??
    stderr.findLast(isInformativeLine);
  const how = signal === null ? `It exited with code ${code}` : `It was ended by ${signal}`;
  return reason(
    "crash_looping",
    (last === undefined ? `${how}.` : `${how}: ${last}`).slice(0, LONGEST_DETAIL),
  );
}

function isInformativeLine(line: string): boolean {
  return !NOISE.test(line);
}
