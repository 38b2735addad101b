import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../runtime/contract/errors.ts";
import { loadConfig, type StackConfig } from "./config.ts";
import { host } from "./host.ts";
import type { StackOutputs } from "./outputs.ts";
import { serverless } from "./serverless.ts";

/**
 * The program of every stack: for `pulumi up`, and inline for the Automation API. Picks the stack by
 * `steward:target`; a wrong configuration stops it before any resource is registered.
 */
export default async function program(): Promise<StackOutputs> {
  const config = readConfig();
  return config.target === "host" ? host(config) : serverless(config);
}

/** A RunError is shown without a stack trace: its text tells what to type. */
function readConfig(): StackConfig {
  try {
    return loadConfig();
  } catch (error) {
    if (error instanceof StewardError) throw new pulumi.RunError(error.message, { cause: error });
    throw error;
  }
}
