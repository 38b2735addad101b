import { existsSync, readFileSync } from "node:fs";
import { formatConfigProblems, type Config } from "../../contract/config/index.ts";
import { readConfigText, secretValues } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { writeFileAtomic } from "../../process/files.ts";
import { renderConfig } from "../../contract/config/render.ts";
import { wholeReading } from "../../process/config-check.ts";

/** The gateway's config, with its secrets beside it. */
export interface LoadedConfig {
  config: Config;
  /** Values of all secrets that the config names, for the redactor. */
  secrets: string[];
  /** The file was written by this start. */
  fresh: boolean;
}

/**
 * Reads and checks the config file; writes it from the environment where there is none.
 *
 * @throws StewardError `config_invalid` with the whole report as its message.
 */
export async function loadConfig(path: string, environment: Environment): Promise<LoadedConfig> {
  const fresh = !existsSync(path);
  if (fresh) writeFileAtomic(path, renderConfig(environment));
  return { ...(await readConfig(path, environment)), fresh };
}

/**
 * Reads and checks a config file that is there.
 *
 * @throws StewardError `config_invalid` with the whole report as its message.
 */
export async function readConfig(
  path: string,
  environment: Environment,
): Promise<Omit<LoadedConfig, "fresh">> {
  const { result } = await wholeReading(readConfigText(readFileSync(path, "utf8"), environment));
  if (!result.ok) throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
  return { config: result.config, secrets: secretValues(result.config, environment) };
}
