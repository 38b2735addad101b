import { StewardError } from "../../contract/errors.ts";
import { isStoreError } from "../../process/database.ts";
import { RetryableError } from "../failure.ts";
import type { SayRequest } from "./say.ts";
import type { PendingRun } from "./store.ts";
import { HEARTBEAT_ID, HEARTBEAT_OK, scheduleName } from "./wanted.ts";

/** Later than this, the agent is told that its question is late. */
const LATE_MS = 60_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 10 * 60_000;

/** What a run says: the same at every attempt, so that a later one finds what the one before left. */
export function requestOf({ schedule: { id, spec }, dueAt, begunAt }: PendingRun): SayRequest {
  const { to, text, prompt } = spec;
  const { platform, chat, thread } = to;
  const note =
    begunAt - dueAt > LATE_MS
      ? `\n\n[This was due at ${isoTime(dueAt)}, when the gateway was not running.]`
      : "";
  return {
    id: `schedule:${id}:${dueAt}`,
    platform,
    target: { chat, ...(thread !== undefined && { thread }) },
    name: scheduleName(id),
    ...(text !== undefined && { text }),
    ...(prompt !== undefined && { prompt: `${prompt}${note}` }),
    ...(id === HEARTBEAT_ID && { silence: HEARTBEAT_OK }),
  };
}

/** Milliseconds until the next attempt; infinite where none can help. */
export function retryWait({ attempts }: PendingRun, error: unknown): number {
  if (!(error instanceof RetryableError || isStoreError(error))) return Number.POSITIVE_INFINITY;
  const wait = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), LONGEST_RETRY_MS);
  return Math.max(wait, error instanceof RetryableError ? (error.retryAfterMs ?? 0) : 0);
}

/** A failure in words that may be shown: another library's message might hold anything. */
export function failureNote(error: unknown): string {
  return error instanceof StewardError ? error.message : "internal error, see the log";
}

/** ISO 8601 */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
