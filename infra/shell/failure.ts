import { type Fix, fixText } from "../../runtime/contract/errors.ts";
import { diagnosticsIn } from "./diagnostics.ts";

/**
 * A failure on this machine while building or looking for something, with its remedy. `code` is stable: tests, CI and
 * people search for it.
 */
export class BuildFailure extends Error {
  readonly code: string;
  readonly reason: string;
  readonly fix: Fix;

  constructor(code: string, reason: string, fix: Fix) {
    super(`${reason} (${code})\n  fix: ${fixText(fix)}`);
    this.name = "BuildFailure";
    this.code = code;
    this.reason = reason;
    this.fix = fix;
  }
}

/**
 * Returns what went wrong, in words. For a failure of the engine, returns only the diagnostics, because the error's
 * message repeats the whole output.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const diagnostics = diagnosticsIn(message);
  if (diagnostics !== undefined) return diagnostics;
  const engineError = message.split("\n").find((line) => line.startsWith("error: "));
  return engineError ?? message;
}

/** Returns why a request got no response, which `fetch` reports only in the error's cause. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return failureOf(cause);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
