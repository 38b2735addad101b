import { readFileSync } from "node:fs";
import { type Config, formatConfigProblems } from "../../contract/config/index.ts";
import { readConfigText, type ConfigReading } from "../../contract/config/text.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Environment } from "../../contract/variables.ts";

/** @throws StewardError `config_missing` */
export function readConfigFile(path: string, environment: Environment): ConfigReading {
  try {
    return readConfigText(readFileSync(path, "utf8"), environment);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new StewardError("config_missing", `There is no config file at ${path}.`, { cause: error });
  }
}

/** @throws StewardError `config_missing`; `config_invalid` with every problem. */
export function validConfig(path: string, environment: Environment): Config {
  const { result } = readConfigFile(path, environment);
  if (!result.ok) throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
  return result.config;
}
