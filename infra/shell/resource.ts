import { readFileSync } from "node:fs";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { CONNECTION, type Endpoints } from "./connection.ts";
import { unlistedPlugin } from "./explain.ts";

/**
 * Types of this package's resources, without `steward:`. Deployed states contain them, so no type may be renamed or
 * removed.
 */
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

/** Organization that Pulumi reports for a backend without organizations (pulumi pkg/backend/diy). */
const NO_ORGANIZATION = "organization";

/** Returns the stack's name, with the organization if the backend has organizations. */
export function operatorStack(): string {
  const stack = pulumi.getStack();
  try {
    const organization = pulumi.getOrganization();
    return organization === NO_ORGANIZATION ? stack : `${organization}/${stack}`;
  } catch {
    // Return the stack's name alone: without a Pulumi engine, `getOrganization` throws.
    return stack;
  }
}

/**
 * Warns if the project's Pulumi.yaml does not list this package's provider. The engine's error would not suggest the
 * fix.
 */
export function warnOfUnlistedPlugin(): void {
  // Pulumi versions before 2025 do not report the project's folder.
  const folder = pulumi.runtime.getRootDirectory() || process.cwd();
  let project: string;
  try {
    project = readFileSync(path.join(folder, "Pulumi.yaml"), "utf8");
  } catch {
    return;
  }
  if (!/^(?:plugins|packages):[^]*steward/m.test(project)) void pulumi.log.warn(unlistedPlugin().message);
}

/** Connection arguments in a program; see infra/shell/connection.ts. */
export interface ConnectionArgs {
  /** Cloudflare credentials. The token is a Pulumi secret. CLOUDFLARE_* variables replace missing values. */
  cloudflare?: {
    apiToken?: pulumi.Input<string | undefined>;
    baseUrl?: pulumi.Input<string | undefined>;
  };
  endpoints?: Endpoints | undefined;
}

export abstract class OwnResource extends pulumi.CustomResource {
  constructor(
    type: OwnType,
    name: string,
    { connection, ...inputs }: pulumi.Inputs & { connection?: ConnectionArgs | undefined },
    opts: pulumi.CustomResourceOptions = {},
  ) {
    // The alias keeps Pulumi from replacing dynamic resources that versions before 0.1.0 deployed.
    const aliases = [{ type: `pulumi-nodejs:dynamic/${type}` }, ...(opts.aliases ?? [])];
    const own = { [CONNECTION]: { stack: operatorStack(), ...connection } };
    super(`steward:${type}`, name, { ...inputs, ...own }, { ...opts, aliases });
  }
}
