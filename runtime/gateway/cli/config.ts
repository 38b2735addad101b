import type { Command } from "commander";
import { formatConfigProblems } from "../../contract/config/index.ts";
import { isReference } from "../../contract/config/references.ts";
import { resolveSecret, secretValues } from "../../contract/config/text.ts";
import { StewardError } from "../../contract/errors.ts";
import { createRedactor, redactValue } from "../../shared/redact.ts";
import { wholeReading } from "../../process/config-file.ts";
import { accessRisks } from "../access-risks.ts";
import { configPath, readConfigFile } from "./config-file.ts";
import type { SetOptions } from "./config-write.ts";
import type { CommandContext, JsonOption } from "./context.ts";

/** `steward config get|set|unset|validate|schema`. A running gateway applies a changed file automatically. */
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
      const place = configPath(wanted);
      const found = lookUp(result.config, place);
      if (found === undefined) {
        throw new StewardError("config_path_not_found", `Config path not found: ${wanted}`);
      }
      // A larger piece is asked for to be looked at, and shown to others: what it holds in plain text is masked.
      const shown = createRedactor(environment, secretValues(result.config, environment));
      const isPiece = typeof found === "object" && !isReference(found);
      const single = isReference(found) ? resolveSecret(found, environment) : found;
      const value = isPiece ? redactValue(found, shown, place.at(-1)) : single;
      output.answer(json, value, typeof value === "object" ? JSON.stringify(value, null, 2) : String(value));
    });

  config
    .command("validate")
    .description("checks the file as the gateway does at its start")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const { result } = await wholeReading(readConfigFile(path, environment));
      if (!result.ok && !json) {
        throw new StewardError("config_invalid", formatConfigProblems(path, result.problems));
      }
      const told = result.ok ? [] : result.problems;
      const problems = told.map(({ path, message }) => ({ path, message: redact(message) }));
      const warnings = result.ok ? accessRisks(result.config, settings.home) : [];
      for (const { path: at, detail, fix } of json ? [] : warnings)
        output.warn(`${at}: ${detail}\nFix: ${fix}`);
      output.answer(json, { path, valid: result.ok, problems, warnings }, `Config is valid: ${path}`);
      if (!result.ok) context.setExitCode(1);
    });

  config
    .command("set")
    .description("writes a value, JSON or text; the whole file is checked before it is written")
    .argument("<path>", "for example slack.dmPolicy")
    .argument("[value]", "JSON or plain text")
    .option("--env <name>", "write a reference to this environment variable: the way for secrets")
    .option("--plain", "write a secret in plain text")
    .option("--json", "as JSON")
    .action(
      async (wanted: string, value: string | undefined, { json, ...options }: JsonOption & SetOptions) => {
        const { setConfig } = await import("./config-write.ts");
        await setConfig(context, wanted, value, options);
        output.answer(json, { path: wanted, set: true }, `Set ${wanted}.`);
      },
    );

  config
    .command("unset")
    .description("removes a value, so that its default holds")
    .argument("<path>", "for example slack.dmPolicy")
    .option("--json", "as JSON")
    .action(async (wanted: string, { json }: JsonOption) => {
      const { unsetConfig } = await import("./config-write.ts");
      await unsetConfig(context, wanted);
      output.answer(json, { path: wanted, unset: true }, `Removed ${wanted}.`);
    });

  config
    .command("schema")
    .description("the file's form as JSON Schema")
    .option("--json", "as JSON, which it is anyway")
    .action(async () => {
      const { configJsonSchema } = await import("../../contract/config/json-schema.ts");
      output.answer(true, configJsonSchema(), "");
    });
}

// Own keys only: `constructor` is no path of a config.
function lookUp(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return lookUp(Object.entries(value).find(([name]) => name === key)?.[1], rest);
}
