import * as pulumi from "@pulumi/pulumi";
import { STACK_INPUT } from "./bounded.ts";
import { commandLine, IS_RELEASE, PACKAGE } from "../shell/package.ts";

/** Types of the dynamic resources. They are in the state of every stack, so none may change or go. */
export type DynamicType =
  | "channels:DiscordCommands"
  | "channels:DiscordEndpoint"
  | "channels:SlackApp"
  | "channels:TelegramWebhook"
  | "host:Placement"
  | "host:Service"
  | "secrets:AttestationKey"
  | "secrets:ConfigCheck"
  | "secrets:SecretCheck"
  | "serverless:ContainerApplication"
  | "serverless:CostEstimate"
  | "serverless:Deployment"
  | "serverless:MigrationPlan"
  | "serverless:Migrations"
  | "serverless:StateBucket";

/** Marker for a value that is not known in a preview (pulumi sdk/nodejs/runtime/rpc.ts). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const OLDEST_NODE = 24;
/** Organization that the engine reports in a backend that has none (pulumi pkg/backend/diy). */
const NO_ORGANIZATION = "organization";
/** As seen from the project's folder, where the engine starts the process that runs the providers. */
const PROVIDERS = IS_RELEASE ? `${PACKAGE}/infra/dynamic/providers.js` : "./infra/dynamic/providers.ts";

/** Returns the running stack as the operator names it: with its organization, except in a backend that has none. */
export function operatorStack(): string {
  const stack = pulumi.getStack();
  try {
    const organization = pulumi.getOrganization();
    return organization === NO_ORGANIZATION ? stack : `${organization}/${stack}`;
  } catch {
    // Not under an engine.
    return stack;
  }
}

/**
 * A resource whose provider is code of this package: see providers.ts. Pulumi's own `dynamic.Resource` writes the
 * provider's functions into the state, which takes a second of every preview and cannot do without rules for what a
 * function may refer to. This one writes a line that imports them.
 */
export abstract class DynamicResource extends pulumi.CustomResource {
  constructor(type: DynamicType, name: string, inputs: pulumi.Inputs, opts?: pulumi.CustomResourceOptions) {
    const own = { [STACK_INPUT]: operatorStack(), __provider: providerCode(type) };
    super(`pulumi-nodejs:dynamic/${type}`, name, { ...inputs, ...own }, opts);
  }
}

/**
 * Returns a module with a `handler` that returns the provider, as the process that runs dynamic providers evaluates it:
 * https://github.com/pulumi/pulumi/blob/master/sdk/nodejs/cmd/dynamic-provider/index.ts
 */
function providerCode(type: DynamicType): string {
  const fix = `type \`${commandLine("pulumi")}\` in place of \`pulumi\`, or put Node ${OLDEST_NODE} first on PATH`;
  return [
    // The program checks the same, but a destroy does not run it.
    `if (Number.parseInt(process.versions.node, 10) < ${OLDEST_NODE})`,
    `  throw new Error("steward needs Node ${OLDEST_NODE} or newer, and this is " + process.version +`,
    `    ${JSON.stringify(`.\n  fix: ${fix}. [node_outdated]`)});`,
    `exports.handler = () => require(${JSON.stringify(PROVIDERS)}).providers[${JSON.stringify(type)}];`,
    "",
  ].join("\n");
}
