import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../runtime/contract/errors.ts";
import { loadConfig } from "./config.ts";
import { host } from "./host.ts";
import type { StackOutputs } from "./outputs.ts";
import { serverless } from "./serverless.ts";

/**
 * The program of every stack: for `pulumi up`, and inline for the Automation API. Picks the stack by
 * `steward:target`; a wrong configuration stops it before any resource is registered.
 */
export default async function program(): Promise<StackOutputs> {
  try {
    const config = loadConfig();
    return await (config.target === "host" ? host(config) : serverless(config));
  } catch (error) {
    // A RunError is shown without a stack trace: its text tells what to type.
    if (error instanceof StewardError) throw new pulumi.RunError(error.message, { cause: error });
    throw error;
  }
}
