import { type Fix, fixText } from "../../runtime/contract/errors.ts";

const DIAGNOSTICS = "\nDiagnostics:\n";

/**
 * Failure on this machine while something was built or looked for, with what to do about it.
 * `code` is stable: tests, CI and people search for it.
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
 * Returns what went wrong, for people. For a failure of the engine it is only the diagnostics, because the error's text
 * repeats the whole output.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const start = message.indexOf(DIAGNOSTICS);
  if (start !== -1) {
    const [diagnostics = ""] = message.slice(start + DIAGNOSTICS.length).split(/^(?:Resources|Outputs):/m);
    return diagnostics.trim();
  }
  const engineError = message.split("\n").find((line) => line.startsWith("error: "));
  return engineError ?? message;
}

/** Returns why a request got no answer; `fetch` hides it in the cause. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return failureOf(cause);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
