import { readFile } from "node:fs/promises";
import { Option } from "commander";
import { usageError } from "../../../infra/shell/command.ts";
import type { PolicyConfig, PolicyOptions } from "./preview.ts";

export const POLICY_CONFIG = new Option(
  "--config <file>",
  "file that sets the enforcement level and the parameters of each policy rule",
);
export const LAST_BACKUP = new Option("--backup <time>", "time of the last backup, in ISO 8601 format");

/**
 * Reads the policy configuration named on the command line.
 *
 * @throws CommanderError if the backup time is invalid or the config file cannot be read.
 */
export async function readPolicyConfig(words: {
  config?: string | undefined;
  backup?: string | undefined;
}): Promise<Required<PolicyOptions>> {
  const { config, backup } = words;
  if (backup !== undefined && Number.isNaN(Date.parse(backup))) {
    throw usageError("--backup is not a time; write it like 2026-01-31T09:30:00Z");
  }
  return { config: config === undefined ? {} : await readConfig(config), backup };
}

async function readConfig(file: string): Promise<PolicyConfig> {
  try {
    const config: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof config === "object" && config !== null && !Array.isArray(config)) return { ...config };
  } catch (error) {
    throw usageError(
      `${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  throw usageError(
    `${file} is not a policy configuration: it must be an object whose keys are names of rules`,
  );
}
