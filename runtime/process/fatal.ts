import { StewardError } from "../contract/errors.ts";
import type { Redactor } from "../contract/redact.ts";

/**
 * What a process writes to stderr before it ends with exit code 1: what is wrong, then the fix.
 *
 * A config error is told in its own words, which operators search for (specification, section 7);
 * every other one starts with `Error [code]:`, by which the supervisor knows it again.
 */
export function fatalReport(error: unknown, redact: Redactor): string {
  if (!(error instanceof StewardError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${redact(text)}\n`;
  }
  const head = error.code === "config_invalid" ? "" : `Error [${error.code}]: `;
  return `${redact(`${head}${error.message}\nFix: ${error.reason.fix}`)}\n`;
}
