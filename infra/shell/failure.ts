import { type Fix, fixText } from "../../runtime/contract/errors.ts";
import { diagnosticsIn } from "./diagnostics.ts";

/** Failure of a local step, such as a build. `code` is stable across releases. */
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
 * Returns an error's message. Shortens an engine error, which contains the engine's whole output, to its diagnostics.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const diagnostics = diagnosticsIn(message);
  if (diagnostics !== undefined) return diagnostics;
  const engineError = message.split("\n").find((line) => line.startsWith("error: "));
  return engineError ?? message;
}

/** Returns the reason for a failure. `fetch` reports it only in the error's `cause`. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return failureOf(cause);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
