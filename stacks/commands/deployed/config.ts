import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { loadConfig, type ServerlessConfig } from "../../config.ts";
import type { CloudflareAccess } from "../../../infra/serverless/account-api.ts";
import { cloudflareAccess } from "../../config/cloudflare.ts";
import type { ConfigSource } from "../../config/source.ts";

/** What a command on a serverless stack works with. */
export interface DeployedConfig {
  config: ServerlessConfig;
  cloudflare: CloudflareAccess;
}

/**
 * The configuration of a serverless stack, checked as its program checks it.
 *
 * @param changes values that are looked at as if they were stored, by their whole keys.
 * @throws StewardError `stack_config_invalid`, `stack_not_serverless`
 */
export async function readServerless(
  stack: Stack,
  changes: Readonly<Record<string, string>> = {},
): Promise<DeployedConfig> {
  const stored = await storedConfig(stack);
  const source = { ...stored, values: { ...stored.values, ...changes } };
  const config = loadConfig(source);
  if (config.target !== "serverless") throw new StewardError("stack_not_serverless");
  return { config, cloudflare: cloudflareAccess(source) };
}

/** The configuration of a stack as its program gets it: the settings file's, and that of ESC environments. */
export async function storedConfig(stack: Stack): Promise<ConfigSource> {
  const stored = await stack.getAllConfig();
  const values = Object.fromEntries(Object.entries(stored).map(([key, { value }]) => [key, value]));
  return { values, isSecret: (key) => stored[key]?.secret === true, environment: process.env };
}
