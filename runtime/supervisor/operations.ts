import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CliResult } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { CONFIG_FILE } from "../contract/names.ts";
import type { Operation } from "../contract/operations.ts";
import { createRedactor, redactJsonText, type Redactor } from "../contract/redact.ts";
import { runCommand } from "./command-run.ts";
import { readDataFile } from "./data-file.ts";
import type { Timers } from "./timers.ts";

/** What operations work with. */
export interface OperationsOptions {
  /** The command line's program and its arguments. */
  cli: readonly [string, ...string[]];
  /** The gateway's environment. */
  environment: Environment;
  home: string;
  timers: Timers;
}

/**
 * Runs one operation of the allow-list beside the gateway, which may be dead. No shell takes part.
 *
 * @throws StewardError `command_not_allowed` for a file outside the data directory.
 */
export async function runOperation(options: OperationsOptions, operation: Operation): Promise<CliResult> {
  const { cli, environment, home, timers } = options;
  const redact = await operationRedactor(home, environment);
  if (operation.kind === "cat") {
    const file = await readDataFile(home, operation.file);
    if (file.ok) return { exitCode: 0, stdout: redact(file.text), stderr: "" };
    return { exitCode: 1, stdout: "", stderr: `cat: ${redact(operation.file)}: ${file.problem}\n` };
  }
  return runCommand({ command: [...cli, ...operation.args], environment, redact, timers });
}

/** Knows the secrets of the environment, and those that the config file holds or refers to. */
async function operationRedactor(home: string, environment: Environment): Promise<Redactor> {
  const values = await configSecrets(home, environment);
  // Within a JSON text a secret stands as JSON writes it.
  const escaped = values.map((value) => JSON.stringify(value).slice(1, -1));
  const redact = createRedactor(environment, [...values, ...escaped]);
  return (text) => redact(redactJsonText(text));
}

async function configSecrets(home: string, environment: Environment): Promise<string[]> {
  try {
    const config: unknown = JSON.parse(await readFile(join(home, CONFIG_FILE), "utf8"));
    // The schema weighs more than the supervisor itself, and is needed when somebody looks.
    const { secretValues } = await import("../contract/config/text.ts");
    return secretValues(config, environment);
  } catch {
    // No file, or no JSON: what it says under a secret's name is masked by that name.
    return [];
  }
}
