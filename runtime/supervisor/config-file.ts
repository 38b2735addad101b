import { readFile } from "node:fs/promises";
import type { ContainerConfig } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { fileVersion } from "../process/files.ts";
import { redactValue, type Redactor } from "../shared/redact.ts";
import type { Timers } from "./timers.ts";

const LOOK_EVERY_MS = 1_000;

/** Returns the config file's validation problems, and its content with secrets masked. */
export async function showConfig(
  path: string,
  environment: Environment,
  redact: Redactor,
): Promise<ContainerConfig> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const message = code === "ENOENT" ? "The file does not exist" : `The file cannot be read (${code})`;
    const missing = code === "ENOENT" && { missing: true as const };
    return { config: null, ...missing, path, valid: false, problems: [{ path: "", message }] };
  }
  // Loaded on demand, because the schema is large.
  const { readConfigText } = await import("../contract/config/text.ts");
  const { withScheduleChecks } = await import("../process/config-file.ts");
  const { value, result } = await withScheduleChecks(readConfigText(text, environment));
  const { describeProblems } = await import("../contract/config/help.ts");
  const problems = result.ok ? [] : describeProblems(result.problems, text, redact);
  return { config: redactValue(value, redact), path, valid: result.ok, problems };
}

/** Calls back once when the file's version is not `before`. Polls, because a mounted volume may not notify. */
export function watchConfig(path: string, before: string, timers: Timers, onChange: () => void): () => void {
  let cancel: (() => void) | undefined;
  const look = (): void => {
    if (fileVersion(path) === before) cancel = timers.after(LOOK_EVERY_MS, look);
    else onChange();
  };
  cancel = timers.after(LOOK_EVERY_MS, look);
  return () => cancel?.();
}
