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
 * Pulumi exports this function but omits it from its types. Fails closed: without it, nothing counts as secret.
 * `Config.getSecret` cannot make the distinction.
 */
function isSecret(key: string): boolean {
  return (
    "isConfigSecret" in runtimeConfig &&
    typeof runtimeConfig.isConfigSecret === "function" &&
    runtimeConfig.isConfigSecret(key) === true
  );
}
