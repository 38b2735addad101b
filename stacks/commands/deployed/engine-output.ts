import { withoutErrors } from "../../../infra/shell/diagnostics.ts";

const DIAGNOSTICS = "Diagnostics:";
/**
 * Matches the first line of a resource's error. This line begins with the resource's row: ` + pulumi:pulumi:Stack
 * steward-dev create error: …`.
 */
const ERROR = /^( .*?) error: .*$/;

export interface EngineOutput {
  onOutput: (text: string) => void;
  end(): void;
}

/** Forwards the engine's output except errors, which the command prints at the end with code and fix. */
export function engineOutput(write: (line: string) => void): EngineOutput {
  let rest = "";
  let diagnostics: string[] | undefined;
  const endDiagnostics = (): void => {
    const left = withoutErrors((diagnostics ?? []).join("\n"));
    if (left !== "") [DIAGNOSTICS, ...left.split("\n"), ""].forEach(write);
    diagnostics = undefined;
  };
  const take = (line: string): void => {
    if (diagnostics !== undefined && /^\S/.test(line)) endDiagnostics();
    if (line === DIAGNOSTICS) diagnostics = [];
    else if (diagnostics !== undefined) diagnostics.push(line);
    else write(line.replace(ERROR, "$1 error"));
  };
  return {
    onOutput(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
    },
    end() {
      if (rest !== "") take(rest);
      rest = "";
      endDiagnostics();
    },
  };
}
