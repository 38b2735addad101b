import { closeSync, readSync } from "node:fs";
import { secretNames, type Environment } from "../contract/variables.ts";

/** The descriptor on which a process that the supervisor starts reads its secrets, where the variable says so. */
export const SECRETS_FD = 3;
const SECRETS_FD_VARIABLE = "STEWARD_SECRETS_FD";
const CHUNK = 65_536;

/** An environment in two parts. */
interface SplitEnvironment {
  /** For the process's environment, which `/proc` may show. */
  environment: Environment;
  /** One line, to be written to {@link SECRETS_FD}. */
  secrets: string;
}

/** Splits an environment for a program of steward's own; {@link readOwnEnvironment} puts it together there. */
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

/** Returns this process's environment, with the secrets that its supervisor handed over. To be called once. */
export function readOwnEnvironment(): Environment {
  const { [SECRETS_FD_VARIABLE]: descriptor, ...environment } = process.env;
  if (descriptor === undefined) return environment;
  return { ...environment, ...(JSON.parse(readLine(Number(descriptor))) as Environment) };
}

/** Reads up to the first end of a line: the end of the stream comes when the supervisor gets to it. */
function readLine(descriptor: number): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(CHUNK);
    const length = readSync(descriptor, chunk);
    chunks.push(chunk.subarray(0, length));
    if (length > 0 && chunk[length - 1] !== 0x0a) continue;
    // Programs that this process starts would inherit it.
    closeSync(descriptor);
    return Buffer.concat(chunks).toString();
  }
}
