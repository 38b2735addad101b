import { isErrorCode, type ErrorCode } from "./errors.ts";

/** Outcome of starting the container (serverless stack) or the gateway (host). */
export interface ColdStart {
  /** Start time (ISO 8601). */
  at: string;
  /** Duration in milliseconds. */
  ms: number;
  /** `ready`, or the reason for the failure. */
  ended: "ready" | ErrorCode;
}

const MOST = 20;

/** Returns the list with a new start at the front. Drops the oldest start if the list would be too long. */
export function addColdStart(starts: readonly ColdStart[], start: ColdStart): ColdStart[] {
  return [start, ...starts].slice(0, MOST);
}

/** Parses stored starts. Drops malformed entries. */
export function readColdStarts(text: string | undefined): ColdStart[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isColdStart).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function isColdStart(value: unknown): value is ColdStart {
  const { at, ms, ended } = (value ?? {}) as Partial<Record<keyof ColdStart, unknown>>;
  const known = ended === "ready" || isErrorCode(ended);
  return known && typeof ms === "number" && typeof at === "string" && !Number.isNaN(Date.parse(at));
}
