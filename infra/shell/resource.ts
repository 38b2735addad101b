import { readFileSync } from "node:fs";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { CONNECTION, type Endpoints } from "./connection.ts";
import { unlistedPlugin } from "./explain.ts";

/** Types of this package's own resources, without `steward:`. They are in the state of every stack: none may change or go. */
export type OwnType =
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

/** Organization that the engine reports in a backend that has none (pulumi pkg/backend/diy). */
const NO_ORGANIZATION = "organization";

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
 * Warns if the project's Pulumi.yaml does not say where this package's provider is. The engine then fails, without a
 * word about the remedy, unless the provider is installed in another way.
 */
export function warnOfUnlistedPlugin(): void {
  // A language host from before 2025 does not name the project's folder.
  const folder = pulumi.runtime.getRootDirectory() || process.cwd();
  let project: string;
  try {
    project = readFileSync(path.join(folder, "Pulumi.yaml"), "utf8");
  } catch {
    return;
  }
  if (!/^(?:plugins|packages):[^]*steward/m.test(project)) void pulumi.log.warn(unlistedPlugin().message);
}

/** Connection of a resource to what it manages, as a program gives it: see infra/shell/connection.ts. */
export interface ConnectionArgs {
  /** The token is a Pulumi secret. What is left out, the provider's process has as CLOUDFLARE_*. */
  cloudflare?: {
    apiToken?: pulumi.Input<string | undefined>;
    baseUrl?: pulumi.Input<string | undefined>;
  };
  endpoints?: Endpoints | undefined;
}

/** A resource of this package's provider: see infra/provider. */
export abstract class OwnResource extends pulumi.CustomResource {
  constructor(
    type: OwnType,
    name: string,
    { connection, ...inputs }: pulumi.Inputs & { connection?: ConnectionArgs | undefined },
    opts: pulumi.CustomResourceOptions = {},
  ) {
    // Until 0.1.0 it was a dynamic resource.
    const aliases = [{ type: `pulumi-nodejs:dynamic/${type}` }, ...(opts.aliases ?? [])];
    const own = { [CONNECTION]: { stack: operatorStack(), ...connection } };
    super(`steward:${type}`, name, { ...inputs, ...own }, { ...opts, aliases });
  }
}
