import { existsSync, readFileSync } from "node:fs";
import { formatConfigProblems, type Config } from "../../contract/config.ts";
import { readConfigText, resolveSecret } from "../../contract/config-text.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { writeFileAtomic } from "../../process/files.ts";
import { renderConfig } from "./render.ts";

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
export function loadConfig(path: string, environment: Environment): LoadedConfig {
  const fresh = !existsSync(path);
  if (fresh) writeFileAtomic(path, renderConfig(environment));
  const { result } = readConfigText(readFileSync(path, "utf8"), environment);
  if (!result.ok) throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
  const { slack, telegram, discord } = result.config.channels;
  const named = [slack?.botToken, slack?.signingSecret, telegram?.botToken, discord?.token];
  const secrets = named
    .filter((secret) => secret !== undefined)
    .map((secret) => resolveSecret(secret, environment));
  return { config: result.config, secrets, fresh };
}
