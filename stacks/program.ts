import * as pulumi from "@pulumi/pulumi";
import { operatorStack } from "../infra/shell/resource.ts";
import { explain, explanationText } from "../infra/shell/explain.ts";
import { endWithParent } from "../infra/shell/engine-connection.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { loadConfig } from "./config.ts";
import { stackSource } from "./config/source.ts";
import type { StackOutputs } from "./outputs.ts";

/**
 * The program of every stack, for `pulumi up` and for the Automation API. Picks the stack by `steward:target`; a wrong
 * configuration stops it before any resource is registered.
 */
export const program = programWith({});

/** Returns the program with these values as if they were stored, by their whole keys. */
export function programWith(changes: Readonly<Record<string, string>>): () => Promise<StackOutputs> {
  return async () => {
    // Not under the Automation API, whose program runs in the command's own process.
    if (process.argv[1]?.includes("@pulumi/pulumi/cmd/run")) endWithParent();
    try {
      const { values, ...source } = stackSource();
      const config = loadConfig({ ...source, values: { ...values, ...changes } });
      // Only the target's own providers are loaded.
      if (config.target === "host") return await (await import("./host.ts")).host(config);
      return (await import("./serverless.ts")).serverless(config);
    } catch (error) {
      const explanation = explain(error, commandsFor(operatorStack()));
      if (explanation.code === undefined) throw error;
      // A RunError is shown without a stack trace: its text tells what to type.
      throw new pulumi.RunError(explanationText(explanation), { cause: error });
    }
  };
}
