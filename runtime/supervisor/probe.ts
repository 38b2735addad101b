import { GATEWAY_ROUTES } from "../contract/control.ts";
import { get } from "node:http";
import type { Timers } from "./timers.ts";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
const READY_WITHIN_MS = 2_000;

/** Whom to ask. */
export interface ProbeOptions {
  host: string;
  port: number;
  /** The process that must answer: another one on the same port does not count. */
  pid: number;
  timers: Timers;
  /** Receives the gateway's version, once. */
  onReady(version: string | undefined): void;
}

/** Asks the gateway's port until it answers as ready. Returns a function that ends the asking. */
export function probeUntilReady({ host, port, pid, timers, onReady }: ProbeOptions): () => void {
  let ended = false;
  let cancel: (() => void) | undefined;
  const ask = async (pause: number): Promise<void> => {
    const answer = await readiness(host, port, READY_WITHIN_MS);
    if (ended) return;
    if (answer?.pid === pid) onReady(answer.version);
    else cancel = timers.after(pause, () => void ask(Math.min(pause * 1.5, LONGEST_PAUSE_MS)));
  };
  cancel = timers.after(FIRST_PAUSE_MS, () => void ask(FIRST_PAUSE_MS));
  return () => {
    ended = true;
    cancel?.();
  };
}

/** When a gateway that was ready counts as hung. */
export interface LivenessPolicy {
  /** Milliseconds between an answer, or a question without one, and the next question. */
  everyMs: number;
  /** Milliseconds that an answer may take. */
  answerMs: number;
  /** Questions in a row without an answer. */
  misses: number;
}

/** A small instance under load answers late; a process that hangs does not answer at all. */
export const DEFAULT_LIVENESS: LivenessPolicy = { everyMs: 10_000, answerMs: 10_000, misses: 3 };

/** Asks a gateway that was ready on and on. Returns a function that ends the asking. */
export function probeWhileReady(
  { host, port, timers, onSilent }: Omit<ProbeOptions, "pid" | "onReady"> & { onSilent(ms: number): void },
  { everyMs, answerMs, misses }: LivenessPolicy,
): () => void {
  let ended = false;
  let missed = 0;
  const ask = async (): Promise<void> => {
    const asked = timers.now();
    const answer = await readiness(host, port, answerMs);
    if (ended) return;
    missed = answer === undefined ? missed + 1 : 0;
    if (missed < misses) cancel = timers.after(everyMs, () => void ask());
    else onSilent(timers.now() - asked + (misses - 1) * everyMs);
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

/** One question. Node's plain client: `fetch` would cost its start-up time during the cold start. */
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
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== "object" || value === null || !("pid" in value)) return undefined;
    const version = "version" in value && typeof value.version === "string" ? value.version : undefined;
    return { pid: value.pid, version };
  } catch {
    // Something else answers on the port.
    return undefined;
  }
}
