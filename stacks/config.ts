import type * as pulumi from "@pulumi/pulumi";
import { type ArgsOf, type WithDefaults, withDefaults, type Target } from "../infra/gateway/args.ts";
import { StewardError } from "../runtime/contract/errors.ts";
import {
  argumentValues,
  findConfigProblems,
  formatProblems,
  stewardValues,
  targetOf,
  WORKER,
} from "./config/find.ts";
import type { StackConfigSource } from "./config/source.ts";

type Plain<Of extends Target> = pulumi.Unwrap<WithDefaults<Of>>;

/** Arguments of the gateway as plain values. The component turns secret values into Pulumi secrets. */
export interface ServerlessConfig extends Plain<"serverless"> {
  target: "serverless";
  workerName: string;
  cloudflare: { apiToken: string; baseUrl?: string; tokenInEnvironment: boolean };
}

export interface HostConfig extends Plain<"host"> {
  target: "host";
}

export type StackConfig = ServerlessConfig | HostConfig;

/**
 * Validates a stack's configuration and converts it to the gateway's arguments.
 *
 * @throws StewardError `stack_config_invalid`, which lists every problem with its key and fix.
 */
export function loadConfig(source: StackConfigSource): StackConfig {
  const problems = findConfigProblems(source);
  if (problems.length > 0) {
    throw new StewardError("stack_config_invalid", formatProblems(problems), { fix: "" });
  }
  const given = stewardValues(source);
  if (targetOf(given) === "host") return { target: "host", ...read("host", given) };
  const { workerName = WORKER, ...args } = read("serverless", given);
  return { target: "serverless", ...args, workerName, cloudflare: cloudflareOf(source) };
}

function read<Of extends Target>(target: Of, given: Readonly<Record<string, string>>): Plain<Of> {
  const args: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(argumentValues(target, given))) {
    const [group = "", member] = path.split(".");
    args[group] = member === undefined ? value : Object.assign(args[group] ?? {}, { [member]: value });
  }
  return withDefaults(target, args as unknown as ArgsOf[Of]) as Plain<Of>;
}

/** Returns the API token and the API's URL from the same sources as the `cloudflare` provider. */
function cloudflareOf({ values, environment }: StackConfigSource): ServerlessConfig["cloudflare"] {
  const { "cloudflare:apiToken": token, "cloudflare:baseUrl": address } = values;
  const baseUrl = address ?? environment["CLOUDFLARE_BASE_URL"];
  return {
    // Validation has already refused a configuration without a token.
    apiToken: token ?? environment["CLOUDFLARE_API_TOKEN"] ?? "",
    ...(baseUrl && { baseUrl }),
    tokenInEnvironment: token === undefined,
  };
}
