import * as runtimeConfig from "@pulumi/pulumi/runtime/config.js";
import { operatorStack } from "../../infra/shell/resource.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";

/** Keys are full: `steward:target`, `cloudflare:apiToken`. */
export interface StackConfigSource {
  values: Readonly<Record<string, string>>;
  isSecret(key: string): boolean;
  environment: Readonly<Record<string, string | undefined>>;
  commands: OperatorCommands;
}

export function stackSource(): StackConfigSource {
  return {
    values: runtimeConfig.allConfig(),
    isSecret,
    environment: process.env,
    commands: commandsFor(operatorStack()),
  };
}

/**
 * Returns true if Pulumi stores the key's value as a secret. Uses a function that Pulumi exports but omits from its
 * types. If Pulumi lacks this function, returns false.
 */
function isSecret(key: string): boolean {
  return (
    "isConfigSecret" in runtimeConfig &&
    typeof runtimeConfig.isConfigSecret === "function" &&
    runtimeConfig.isConfigSecret(key) === true
  );
}
