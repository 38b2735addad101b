import { StewardError, fixText } from "../../runtime/contract/errors.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { BuildFailure, causeOf } from "./failure.ts";

/** An error as people read it. Nothing in it is secret. */
export interface Explanation {
  /** Stable, for people and programs to search for; absent for an error that nothing foresaw. */
  code: string | undefined;
  cause: string;
  /** Remedy; absent if the cause has one for each of its problems. */
  fix: string | undefined;
}

/** Returns what an error means and what ends it, with the commands of the place where it is printed. */
export function explain(error: unknown, commands: OperatorCommands): Explanation {
  if (error instanceof StewardError) {
    const { code, message, fix } = error;
    return { code, cause: message, fix: fixText(fix, commands) || undefined };
  }
  if (error instanceof BuildFailure)
    return { code: error.code, cause: error.reason, fix: fixText(error.fix, commands) };
  return { code: undefined, cause: causeOf(error), fix: undefined };
}

/** Returns an error in lines: its cause with its code, then its fix. */
export function explanationText({ code, cause, fix }: Explanation): string {
  const known =
    code === undefined || cause.includes(`(${code})`) ? cause : `${cause.replace(/\.$/, "")} (${code})`;
  return fix === undefined ? known : `${known}\n  fix: ${fix}`;
}
