import { readFileSync } from "node:fs";
import { readConfigText, type ConfigReading } from "../../contract/config/text.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Environment } from "../../contract/variables.ts";

const CHANNELS = new Set(["slack", "telegram", "discord"]);

/**
 * Reads and checks the config file.
 *
 * @throws StewardError `config_missing` where there is none.
 */
export function readConfigFile(path: string, environment: Environment): ConfigReading {
  try {
    return readConfigText(readFileSync(path, "utf8"), environment);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new StewardError("config_missing", `There is no config file at ${path}.`, { cause: error });
  }
}

/** The keys of a path; one that starts with a channel's name leaves out `channels`. */
export function configPath(wanted: string): string[] {
  const keys = wanted.split(".");
  return CHANNELS.has(keys[0] ?? "") ? ["channels", ...keys] : keys;
}
