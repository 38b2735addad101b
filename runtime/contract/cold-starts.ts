import { isErrorCode, type ErrorCode } from "./errors.ts";

/** Outcome of a start: of the container on the serverless stack, of the gateway on a host. */
export interface ColdStart {
  /** ISO 8601: when it began. */
  at: string;
  /** Milliseconds until it ended. */
  ms: number;
  /** With a gateway that answers, or why with none. */
  ended: "ready" | ErrorCode;
}

const MOST = 20;

/** With one more, newest first; the oldest of too many is dropped. */
export function addColdStart(starts: readonly ColdStart[], start: ColdStart): ColdStart[] {
  return [start, ...starts].slice(0, MOST);
}

/** Returns what was kept as JSON; what is none of them is left out, since nothing depends on it. */
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
