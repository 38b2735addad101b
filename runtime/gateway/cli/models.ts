import { join } from "node:path";
import type { Command } from "commander";
import type { Config } from "../../contract/config/index.ts";
import type { ModelHealth, ModelTested } from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import { STATE_FILE } from "../../contract/names.ts";
import { priceOf } from "../../shared/prices.ts";
import { table } from "../../shared/table.ts";
import { createModels } from "../models/create.ts";
import { TEST_LIMIT_MS, testModel } from "../models/test-question.ts";
import { UsageStore } from "../models/usage.ts";
import { openStore } from "../store.ts";
import { readConfigFile } from "./config-file.ts";
import type { CommandContext, JsonOption } from "./context.ts";
import { askGateway, testByGateway } from "./gateway.ts";

const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** `steward models list|test`: the models in the order in which they are asked, and a short request to one of them. */
export function addModelCommands(program: Command, context: CommandContext): void {
  const models = program.command("models").description("the models that answer");
  models
    .command("list")
    .description("lists them in the order in which they are asked, with prices in dollars a million tokens")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const rows = await listModels(context);
      const cells = rows.map(({ id, state, price, reason }) => [
        id,
        state,
        price === undefined ? "" : `${price.input} in, ${price.output} out`,
        reason?.detail ?? "",
      ]);
      context.output.answer(json, { models: rows }, table(["Model", "State", "Price", "Problem"], cells));
    });
  models
    .command("test")
    .description("asks one of them a short question; the provider charges for it")
    .argument("<model>", "as `list` shows it")
    .option("--json", "as JSON")
    .action(async (id: string, { json }: JsonOption) => {
      const tested = await test(context, id);
      const { ms, tokens } = tested;
      const text = `${id} answered after ${ms} ms: ${tokens.input} tokens in, ${tokens.output} out.`;
      context.output.answer(json, tested, text);
    });
}

async function listModels(context: CommandContext) {
  const config = readConfig(context);
  const { details } = await askGateway(context);
  return configured(config).map((id) => {
    const known = details?.models.find((one) => one.id === id);
    const { state, reason }: Pick<ModelHealth, "state" | "reason"> = known ?? { state: "unknown" };
    const price = priceOf(id, config.models.prices);
    return { id, state, reason, price };
  });
}

/**
 * Has the running gateway ask, whose state of the model then follows; asks in this process if none runs.
 *
 * @throws StewardError what the provider refuses, or `usage_invalid` for a model that the config does not name.
 */
async function test(context: CommandContext, id: string): Promise<ModelTested> {
  const config = readConfig(context);
  const known = configured(config);
  if (!known.includes(id))
    throw new StewardError("usage_invalid", `The config has no model ${id}. It has ${known.join(", ")}.`);
  const asked = await testByGateway(context, id, TEST_LIMIT_MS);
  if (asked !== undefined) return asked;
  const { environment, redact, clock, settings } = context;
  using database = openStore(join(settings.home, STATE_FILE));
  const relay = createModels(config, {
    environment,
    redact,
    clock,
    usage: new UsageStore(database),
    log: SILENT,
  });
  return await testModel(relay, id, clock);
}

function configured({ models: { primary, fallbacks } }: Config): string[] {
  return [...new Set([primary, ...fallbacks])];
}

function readConfig({ settings, environment }: CommandContext): Config {
  const { result } = readConfigFile(settings.configPath, environment);
  if (!result.ok) throw new StewardError("config_invalid", "See `steward config validate`.");
  return result.config;
}

function quiet(): void {
  // The answer, or the error, says it all.
}
