import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CliResult } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { CONFIG_FILE } from "../contract/names.ts";
import type { Operation } from "../contract/operations.ts";
import { createRedactor, MASK, redactJsonText, type Redactor } from "../contract/redact.ts";
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

/** Operations that run at the same time: each is a process, and the container's memory is the gateway's. */
const MOST_RUNNING = 4;

/** Runs an operation; see {@link createOperations}. */
export type RunOperation = (operation: Operation) => Promise<CliResult>;

/**
 * Makes what runs operations of the allow-list beside the gateway, which may be dead. No shell takes part.
 * It rejects with `command_not_allowed` for a file outside the data directory, and with `commands_busy`
 * while too many run.
 */
export function createOperations(options: OperationsOptions): RunOperation {
  let running = 0;
  return async (operation) => {
    if (running >= MOST_RUNNING) throw new StewardError("commands_busy");
    running += 1;
    try {
      return await run(options, operation);
    } finally {
      running -= 1;
    }
  };
}

async function run(options: OperationsOptions, operation: Operation): Promise<CliResult> {
  const { cli, environment, home, timers } = options;
  const config = await readFile(join(home, CONFIG_FILE), "utf8").catch(() => "");
  if (operation.kind === "cat") {
    const file = await readDataFile(home, operation.file);
    if (!file.ok) return { exitCode: 1, stdout: "", stderr: `cat: ${operation.file}: ${file.problem}\n` };
    // The file may be a config of former times, with secrets of its own.
    const secrets = await secretsIn([config, file.text], environment);
    return { exitCode: 0, stdout: redactor(secrets, environment)(file.text), stderr: "" };
  }
  const secrets = await secretsIn([config], environment);
  const redact = redactor(secrets, environment);
  const result = await runCommand({ command: [...cli, ...operation.args], environment, redact, timers });
  // A value that is short enough to occur in ordinary text is masked where it is all of the answer.
  const answer = result.stdout.trim();
  const isSecret = secrets.some((secret) => answer === secret || answer === JSON.stringify(secret));
  return isSecret && answer !== "" ? { ...result, stdout: `${MASK}\n` } : result;
}

function redactor(secrets: readonly string[], environment: Environment): Redactor {
  // Within a JSON text a secret stands as JSON writes it.
  const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  const redact = createRedactor(environment, [...secrets, ...escaped]);
  return (text) => redact(redactJsonText(text));
}

/** The secrets that config files hold or refer to. What is no JSON is masked by its keys alone. */
async function secretsIn(texts: readonly string[], environment: Environment): Promise<string[]> {
  // The schema weighs more than the supervisor itself, and is needed when somebody looks.
  const { secretValues } = await import("../contract/config/text.ts");
  return texts.flatMap((text) => {
    try {
      return secretValues(JSON.parse(text), environment);
    } catch {
      return [];
    }
  });
}
