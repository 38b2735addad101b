import { closeSync, readSync } from "node:fs";
import { secretNames, type Environment } from "../contract/variables.ts";

/** File descriptor from which the supervisor's child processes read their secrets. */
export const SECRETS_FD = 3;
const SECRETS_FD_VARIABLE = "STEWARD_SECRETS_FD";
const CHUNK = 65_536;

interface SplitEnvironment {
  /** Variables that may be visible in `/proc`: all except secrets. */
  environment: Environment;
  /** One line to write to {@link SECRETS_FD}. */
  secrets: string;
}

/** Separates the secrets from the other variables. In the child process, {@link readOwnEnvironment} merges them. */
export function splitSecrets(environment: Environment): SplitEnvironment {
  const names = new Set(secretNames(environment));
  const entries = Object.entries(environment);
  const plain = Object.fromEntries(entries.filter(([name]) => !names.has(name)));
  const secrets = Object.fromEntries(entries.filter(([name]) => names.has(name)));
  return {
    environment: { ...plain, [SECRETS_FD_VARIABLE]: String(SECRETS_FD) },
    secrets: `${JSON.stringify(secrets)}\n`,
  };
}

/**
 * Returns this process's environment with the secrets from the supervisor. Call it only once, because it closes the
 * descriptor of the secrets.
 */
export function readOwnEnvironment(): Environment {
  const { [SECRETS_FD_VARIABLE]: descriptor, ...environment } = process.env;
  if (descriptor === undefined) return environment;
  return { ...environment, ...(JSON.parse(readLine(Number(descriptor))) as Environment) };
}

/** Reads up to the first line feed, without waiting for the end of the stream. */
function readLine(descriptor: number): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(CHUNK);
    const length = readSync(descriptor, chunk);
    chunks.push(chunk.subarray(0, length));
    if (length > 0 && chunk[length - 1] !== 0x0a) continue;
    // Close the descriptor, because child processes would inherit it.
    closeSync(descriptor);
    return Buffer.concat(chunks).toString();
  }
}
