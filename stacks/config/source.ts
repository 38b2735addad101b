import * as runtimeConfig from "@pulumi/pulumi/runtime/config.js";
import { operatorStack } from "../../infra/shell/resource.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";

/** Source of a stack's configuration. Keys are full: `steward:target`, `cloudflare:apiToken`. */
export interface StackConfigSource {
  values: Readonly<Record<string, string>>;
  isSecret(key: string): boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Commands that change this configuration. */
  commands: OperatorCommands;
}

/** Returns the configuration of the stack whose program runs. */
export function stackSource(): StackConfigSource {
  return {
    values: runtimeConfig.allConfig(),
    isSecret,
    environment: process.env,
    commands: commandsFor(operatorStack()),
  };
}

/**
 * Returns true if Pulumi stores a key as a secret. Pulumi exports this function but omits it from its types, and
 * `Config.getSecret` cannot make the distinction. Fails closed: without the function, nothing counts as secret.
 */
function isSecret(key: string): boolean {
  return (
    "isConfigSecret" in runtimeConfig &&
    typeof runtimeConfig.isConfigSecret === "function" &&
    runtimeConfig.isConfigSecret(key) === true
  );
}
