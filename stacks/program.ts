import * as pulumi from "@pulumi/pulumi";
import { operatorStack } from "../infra/shell/resource.ts";
import { explain, explanationText } from "../infra/shell/explain.ts";
import { BuildFailure } from "../infra/shell/failure.ts";
import { endWithParent } from "../infra/shell/engine-connection.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { loadConfig } from "./config.ts";
import { stackSource } from "./config/source.ts";
import type { StackOutputs } from "./outputs.ts";

/** True if Pulumi runs the program in a separate process; false under the Automation API. */
const isOwnProcess = process.argv[1]?.includes("@pulumi/pulumi/cmd/run") === true;
let isRun = false;
/** Exit code that tells Pulumi that the error has been shown already. */
const EXPLAINED = 32;

// Report a program that Pulumi loads as CommonJS. Pulumi does not run its default export, so the update would delete
// every resource.
if (isOwnProcess) {
  process.once("beforeExit", () => {
    if (isRun) return;
    const reason =
      "Pulumi has loaded the stack's program and not run it: package.json does not say that it is a module";
    const { message } = new BuildFailure("program_not_run", reason, "npm pkg set type=module");
    void pulumi.log.error(message);
    process.exitCode = EXPLAINED;
  });
}

/**
 * The program of every stack, for `pulumi up` and the Automation API. An invalid configuration stops it before any
 * resource is registered.
 */
export const program = programWith({});

/**
 * Returns the program of a stack with changed configuration values.
 *
 * @param changes Overrides of stored values, by full key.
 */
export function programWith(changes: Readonly<Record<string, string>>): () => Promise<StackOutputs> {
  return async () => {
    isRun = true;
    if (isOwnProcess) endWithParent();
    try {
      const { values, ...source } = stackSource();
      const config = loadConfig({ ...source, values: { ...values, ...changes } });
      // Load only the target's providers.
      if (config.target === "host") return await (await import("./host.ts")).host(config);
      return (await import("./serverless.ts")).serverless(config);
    } catch (error) {
      const explanation = explain(error, commandsFor(operatorStack()));
      if (explanation.code === undefined) throw error;
      // Pulumi shows a RunError without a stack trace. Its text tells the operator what to do.
      throw new pulumi.RunError(explanationText(explanation), { cause: error });
    }
  };
}
