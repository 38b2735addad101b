import * as pulumi from "@pulumi/pulumi";
import { operatorStack } from "../infra/shell/resource.ts";
import { explain, explanationText } from "../infra/shell/explain.ts";
import { BuildFailure } from "../infra/shell/failure.ts";
import { endWithParent } from "../infra/shell/engine-connection.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { loadConfig } from "./config.ts";
import { stackSource } from "./config/source.ts";
import type { StackOutputs } from "./outputs.ts";

/** False under the Automation API, whose program runs in the command's own process. */
const isOwnProcess = process.argv[1]?.includes("@pulumi/pulumi/cmd/run") === true;
let isRun = false;
/** Exit code that tells Pulumi's host that the error was shown already. */
const EXPLAINED = 32;

// Pulumi takes a CommonJS entry's default export for an output, and the update would delete all that the stack has.
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
 * The program of every stack, for `pulumi up` and for the Automation API. Picks the stack by `steward:target`; a wrong
 * configuration stops it before any resource is registered.
 */
export const program = programWith({});

/** Returns the program with these values as if they were stored, by their whole keys. */
export function programWith(changes: Readonly<Record<string, string>>): () => Promise<StackOutputs> {
  return async () => {
    isRun = true;
    if (isOwnProcess) endWithParent();
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
