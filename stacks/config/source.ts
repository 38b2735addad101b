import * as runtimeConfig from "@pulumi/pulumi/runtime/config.js";
import { operatorStack } from "../../infra/shell/resource.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";

/** Source of configuration. Keys are whole: `steward:target`, `cloudflare:apiToken`. */
export interface StackConfigSource {
  values: Readonly<Record<string, string>>;
  /** Tells whether the value is stored as a secret. */
  isSecret(key: string): boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Commands that change this configuration. */
  commands: OperatorCommands;
}

/** The configuration of the stack whose program runs. */
export function stackSource(): StackConfigSource {
  return {
    values: runtimeConfig.allConfig(),
    isSecret,
    environment: process.env,
    commands: commandsFor(operatorStack()),
  };
}

/**
 * Pulumi exports this function and leaves it out of its types; `Config.getSecret` cannot tell a
 * secret from a plain value. Without the function nothing counts as secret, so it fails closed.
 */
function isSecret(key: string): boolean {
  return (
    "isConfigSecret" in runtimeConfig &&
    typeof runtimeConfig.isConfigSecret === "function" &&
    runtimeConfig.isConfigSecret(key) === true
  );
}
