import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import type { CloudflareAccess } from "../../../infra/serverless/account-api.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { loadConfig, type ServerlessConfig } from "../../config.ts";
import type { StackConfigSource } from "../../config/source.ts";

export interface ServerlessSettings {
  config: ServerlessConfig;
  cloudflare: CloudflareAccess;
}

/**
 * Validates a serverless stack's configuration as its program does.
 *
 * @param changes Overrides of stored values, by full key.
 * @throws StewardError `stack_config_invalid`, `stack_not_serverless`
 */
export function serverlessSettings(
  stored: StackConfigSource,
  changes: Readonly<Record<string, string>> = {},
): ServerlessSettings {
  const source = { ...stored, values: { ...stored.values, ...changes } };
  const config = loadConfig(source);
  if (config.target !== "serverless") throw new StewardError("stack_not_serverless");
  const { apiToken, baseUrl: baseURL } = config.cloudflare;
  return { config, cloudflare: { apiToken, baseURL } };
}

/**
 * Reads a stack's configuration from its settings file and ESC environments.
 *
 * @param environment Variables of the stack's program.
 * @throws BuildFailure `stack_locked`
 */
export async function readStored(stack: Stack, environment: NodeJS.ProcessEnv): Promise<StackConfigSource> {
  const stored = await stack.getAllConfig().catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    if (!/passphrase/.test(text)) throw error;
    throw new BuildFailure(
      "stack_locked",
      `the secrets of ${stack.name} cannot be decrypted: the passphrase is missing or wrong`,
      "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the stack's passphrase.",
    );
  });
  const values = Object.fromEntries(Object.entries(stored).map(([key, { value }]) => [key, value]));
  return {
    values,
    isSecret: (key) => stored[key]?.secret === true,
    environment,
    commands: commandsFor(stack.name),
  };
}
