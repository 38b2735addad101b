import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../contract/config/index.ts";
import { resolveSecret } from "../../contract/config/text.ts";
import type { Secret } from "../../contract/config/values.ts";
import { parseDuration } from "../../contract/duration.ts";
import type { Environment } from "../../contract/environment.ts";
import type { Log } from "../../shared/log.ts";
import type { Redactor } from "../../shared/redact.ts";
import { operationRequest, type ServiceRequest } from "../../contract/service-operations.ts";
import { credential, isPass, serviceAddress, SERVICES, withoutSlashes } from "../../contract/services.ts";
import type { Report } from "../contract-report.ts";
import type { Model } from "./model.ts";
import { ModelRelay, type RelayedModel } from "./relay.ts";
import { createAnthropicModel, createOpenAiCompatibleModel } from "./providers.ts";
import type { UsageStore } from "./usage.ts";
import { type ModelTimeout, timeoutWith } from "./streamed.ts";

interface ModelsOptions {
  environment: Environment;
  redact: Redactor;
  usage: UsageStore;
  report: Report;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
  timeout?: ModelTimeout;
}

/** Sends no requests. */
export function createModels(config: Config, options: ModelsOptions): ModelRelay {
  const { usage, clock, log } = options;
  const { primary, fallbacks, cooldown } = config.models;
  const relayed = (id: string): RelayedModel => ({ id, model: createModel(id, config, options) });
  const others = [...new Set(fallbacks)].filter((id) => id !== primary);
  return new ModelRelay({
    models: [relayed(primary), ...others.map(relayed)],
    cooldownMs: parseDuration(cooldown) ?? 0,
    usage,
    clock,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    log,
  });
}

export interface ModelAddress {
  provider: string;
  modelId: string;
  /** URL without a trailing slash. It usually ends in `/v1`. */
  baseUrl: string;
  /** Empty if none is set. */
  apiKey: string;
  /** Request for this model's entry if the provider is Anthropic, otherwise for the provider's list of models. */
  catalog: Pick<ServiceRequest, "url" | "headers">;
}

/** Returns a model's id, and the URL and key of its API. `reference` must come from a valid config. */
export function addressOf(reference: string, config: Config, environment: Environment): ModelAddress {
  const slash = reference.indexOf("/");
  const [provider, modelId] = [reference.slice(0, slash), reference.slice(slash + 1)];
  if (provider === "anthropic") {
    const key = environment["ANTHROPIC_API_KEY"] ?? "";
    const address = serviceAddress("anthropic", key, environment);
    return {
      provider,
      modelId,
      // Add `/v1` only to Anthropic's own URL, because the broker adds `/v1` itself.
      baseUrl: isPass("anthropic", key, environment) ? address : `${address}/v1`,
      apiKey: key,
      catalog: operationRequest("anthropic/model", { id: modelId }, { key, environment }),
    };
  }
  const server = config.models.providers[provider] ?? { baseUrl: "" };
  const { baseUrl, apiKey: key, isDeployments } = serverOf(server, environment);
  const headers = key === "" ? {} : credential("openai", key);
  const catalog = isDeployments
    ? operationRequest("openai/models", {}, { key, environment })
    : { url: `${baseUrl}/models`, headers };
  return { provider, modelId, baseUrl, apiKey: key, catalog };
}

/**
 * Returns a configured server's URL and key. If the config refers to the deployment's OpenAI key, returns the
 * deployment's OpenAI URL instead of the configured URL.
 */
export function serverOf(
  { baseUrl, apiKey }: { baseUrl: string; apiKey?: Secret | undefined },
  environment: Environment,
): { baseUrl: string; apiKey: string; isDeployments: boolean } {
  const key = apiKey === undefined ? "" : resolveSecret(apiKey, environment);
  const isDeployments = typeof apiKey === "object" && apiKey.env === SERVICES.openai.key;
  const address = isDeployments ? serviceAddress("openai", key, environment) : withoutSlashes(baseUrl);
  return { baseUrl: address, apiKey: key, isDeployments };
}

function createModel(reference: string, config: Config, options: ModelsOptions): Model {
  const { environment, redact, report, clock } = options;
  const address = addressOf(reference, config, environment);
  const firstWordMs = parseDuration(config.models.providers[address.provider]?.firstWordTimeout ?? "");
  const timeout = options.timeout ?? (firstWordMs === undefined ? undefined : timeoutWith(firstWordMs));
  const provider = { ...address, redact, report, clock, ...(timeout && { timeout }) };
  return address.provider === "anthropic"
    ? createAnthropicModel(provider)
    : createOpenAiCompatibleModel(provider);
}
