import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { formatConfigProblems } from "../../contract/config.ts";
import {
  isReference,
  readConfigText,
  resolveSecret,
  type ConfigReading,
} from "../../contract/config-text.ts";
import { platformSchema } from "../../contract/control.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import type { CommandContext, JsonOption } from "./context.ts";

/** `steward config get|validate`. They read the file as the gateway does, and never write it. */
export function addConfigCommands(program: Command, context: CommandContext): void {
  const { environment, settings, redact, output } = context;
  const path = settings.configPath;
  const config = program.command("config").description("the gateway's config file");

  config
    .command("get")
    .description("the value at a path, defaults included; a secret that is asked for by its path is resolved")
    .argument("<path>", "for example channels.slack.dmPolicy, or in short slack.dmPolicy")
    .option("--json", "as JSON")
    .action((wanted: string, { json }: JsonOption) => {
      const { result } = readConfigFile(path, environment);
      if (!result.ok) throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
      const found = lookUp(result.config, fullPath(wanted));
      if (found === undefined) {
        throw new StewardError("config_path_not_found", `Config path not found: ${wanted}`);
      }
      const value = isReference(found) ? resolveSecret(found, environment) : found;
      output.answer(json, value, typeof value === "object" ? JSON.stringify(value, null, 2) : String(value));
    });

  config
    .command("validate")
    .description("checks the file as the gateway does at its start")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const { result } = readConfigFile(path, environment);
      if (!result.ok && !json) {
        throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
      }
      const told = result.ok ? [] : result.problems;
      const problems = told.map(({ path, message }) => ({ path, message: redact(message) }));
      output.answer(json, { path, valid: result.ok, problems }, `Config is valid: ${path}`);
      if (!result.ok) process.exitCode = 1;
    });
}

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

/** A path that starts with a channel's name leaves out `channels`. */
function fullPath(wanted: string): string[] {
  const keys = wanted.split(".");
  return platformSchema.options.some((name) => name === keys[0]) ? ["channels", ...keys] : keys;
}

// Own keys only: `constructor` is no path of a config.
function lookUp(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return lookUp(Object.entries(value).find(([name]) => name === key)?.[1], rest);
}
