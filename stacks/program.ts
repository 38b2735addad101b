import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../runtime/contract/errors.ts";
import { loadConfig } from "./config.ts";
import { stackSource } from "./config/source.ts";
import { host } from "./host.ts";
import type { StackOutputs } from "./outputs.ts";
import { serverless } from "./serverless.ts";

/**
 * The program of every stack, for `pulumi up` and for the Automation API. Picks the stack by `steward:target`; a wrong
 * configuration stops it before any resource is registered.
 */
export const program = programWith({});

/** Returns the program with these values as if they were stored, by their whole keys. */
export function programWith(changes: Readonly<Record<string, string>>): () => Promise<StackOutputs> {
  return async () => {
    try {
      const { values, ...source } = stackSource();
      const config = loadConfig({ ...source, values: { ...values, ...changes } });
      return await (config.target === "host" ? host(config) : serverless(config));
    } catch (error) {
      // A RunError is shown without a stack trace: its text tells what to type.
      if (error instanceof StewardError) throw new pulumi.RunError(error.message, { cause: error });
      throw error;
    }
  };
}
