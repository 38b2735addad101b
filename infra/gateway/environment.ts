import { createHmac } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { SANDBOXES, type VariableName } from "../../runtime/contract/environment.ts";
import type { SecretVariable } from "../../runtime/contract/variables.ts";
import type { ArgsOf, ServerlessGatewayArgs, Target, TelegramArgs } from "./args.ts";
import { SECRET_ARGUMENTS } from "./properties.ts";

export interface RuntimeEnvironment {
  variables: Record<string, pulumi.Input<string>>;
  secrets: Partial<Record<VariableName, pulumi.Output<string>>> & Record<string, pulumi.Output<string>>;
}

/** Returns the runtime's variables and secrets. An omitted argument sets no variable. */
export function environmentOf(target: Target, args: ArgsOf[Target]): RuntimeEnvironment {
  const { secrets: own = {}, telegram } = args;
  return {
    variables: variablesOf(args),
    secrets: {
      ...Object.fromEntries(
        Object.entries(SECRET_ARGUMENTS).flatMap(([variable, path]) => {
          const value = secretAt(args, path);
          return value === undefined ? [] : [[variable, pulumi.secret(value)]];
        }),
      ),
      ...(target === "serverless" && derivedWebhookSecret(telegram)),
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, pulumi.secret(value)])),
    },
  };
}

/** Variables that other code sets. */
type SetElsewhere =
  | "CANARY_TENANTS"
  | "MAX_SANDBOXES"
  | "PUBLIC_ORIGIN"
  | "STEWARD_OWN_SECRETS"
  | "STEWARD_OWN_VARIABLES"
  | "TELEGRAM_DM_POLICY"
  | "TENANCY";
type PlainVariable = Exclude<VariableName, SecretVariable | SetElsewhere>;

function variablesOf(args: ArgsOf[Target]): Record<string, pulumi.Input<string>> {
  const { access, discord, endpoints = {}, ...given } = args;
  const { secrets: ownSecrets = {}, variables: ownVariables = {} } = given;
  const variables: Record<PlainVariable, pulumi.Input<string> | undefined> = {
    LOG_LEVEL: given.logLevel,
    ENVIRONMENT_NAME: given.environmentName ?? pulumi.getStack(),
    CONFIG_RECOVERY: given.configRecovery,
    REPLAY_EVENTS: given.replayEvents === undefined ? undefined : String(given.replayEvents),
    PUBLIC_WEBHOOKS: String(given.publicWebhooks),
    DISCORD_APPLICATION_ID: discord?.applicationId,
    DISCORD_PUBLIC_KEY: discord?.publicKey,
    SLACK_API_URL: endpoints.slack,
    TELEGRAM_API_ROOT: endpoints.telegram,
    DISCORD_API_URL: endpoints.discord,
    ANTHROPIC_BASE_URL: endpoints.anthropic,
    OPENAI_BASE_URL: endpoints.openai,
    EDGE_ACCESS_TEAM_DOMAIN: access?.teamDomain,
    // A serverless gateway adds this variable later, after it has created the Access application.
    EDGE_ACCESS_AUD: access !== undefined && "audience" in access ? access.audience : undefined,
    SANDBOX_SLEEP_AFTER: "sleepAfter" in given ? given.sleepAfter : undefined,
    ...(given.tenancy === "chat" && tenancyOf(given)),
  };
  const defined = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    ...Object.fromEntries(defined),
    ...ownVariables,
    ...listed("STEWARD_OWN_SECRETS", ownSecrets),
    ...listed("STEWARD_OWN_VARIABLES", ownVariables),
  };
}

function tenancyOf({
  maxSandboxes = SANDBOXES.default,
  canaryTenants = [],
}: Pick<ServerlessGatewayArgs, "maxSandboxes" | "canaryTenants">) {
  return {
    TENANCY: "chat",
    MAX_SANDBOXES: String(maxSandboxes),
    ...(canaryTenants.length > 0 && { CANARY_TENANTS: canaryTenants.join(",") }),
  };
}

/**
 * Returns one environment variable, which lists the names of the custom variables in `values`, or an empty record if
 * there are none.
 */
function listed(variable: VariableName, values: object): Record<string, string> {
  const names = Object.keys(values).sort().join(",");
  return names === "" ? {} : { [variable]: names };
}

function secretAt(args: object, path: string): pulumi.Input<string> | undefined {
  let found: unknown = args;
  for (const name of path.split(".")) found = (found as Record<string, unknown> | undefined)?.[name];
  return found as pulumi.Input<string> | undefined;
}

/**
 * Derives the default webhook secret from the bot token. Previews can compute it, and it stays the same between
 * updates.
 */
function derivedWebhookSecret({ botToken, webhookSecret }: TelegramArgs = {}) {
  if (botToken === undefined || webhookSecret !== undefined) return {};
  const derive = (token: string): string =>
    createHmac("sha256", token).update("telegram-webhook").digest("hex");
  return { TELEGRAM_WEBHOOK_SECRET: pulumi.secret(botToken).apply(derive) };
}
