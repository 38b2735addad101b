import { createHmac } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import type * as z from "zod";
import type { VariableName } from "../../runtime/contract/environment.ts";
import { SECRET_VARIABLES, type hostSchema, type serverlessSchema } from "./schema.ts";

/** Variables that a stack hands to the runtime. A secret is a Pulumi secret, and nowhere plain. */
export interface RuntimeVariables {
  variables: Record<string, string>;
  secrets: Partial<Record<VariableName, pulumi.Output<string>>> & Record<string, pulumi.Output<string>>;
}

type Values = z.output<typeof serverlessSchema> | z.output<typeof hostSchema>;

/** The runtime's variables that a stack's values stand for. What is not given is left out. */
export function runtimeVariables(values: Values): RuntimeVariables {
  const { endpoints } = values;
  const variables: Partial<Record<VariableName, string | undefined>> = {
    LOG_LEVEL: values.logLevel,
    ENVIRONMENT_NAME: values.environmentName ?? pulumi.getStack(),
    CONFIG_RECOVERY: values.configRecovery,
    PUBLIC_WEBHOOKS: String(values.publicWebhooks),
    DISCORD_APPLICATION_ID: values.discordApplicationId,
    DISCORD_PUBLIC_KEY: values.discordPublicKey,
    SLACK_API_URL: endpoints.slack,
    TELEGRAM_API_ROOT: endpoints.telegram,
    DISCORD_API_URL: endpoints.discord,
    ANTHROPIC_BASE_URL: endpoints.anthropic,
    OPENAI_BASE_URL: endpoints.openai,
    EDGE_ACCESS_TEAM_DOMAIN: values.teamDomain,
    // A serverless stack makes the application, and knows its audience then.
    ...(values.target === "host"
      ? { EDGE_ACCESS_AUD: values.audience }
      : { SANDBOX_SLEEP_AFTER: values.sleepAfter }),
  };
  const { secrets: ownSecrets = {}, variables: ownVariables = {} } = values;
  const own = Object.entries(ownSecrets).map(([name, value]) => [name, pulumi.secret(value)] as const);
  return {
    variables: {
      ...defined(variables),
      ...ownVariables,
      ...listed("STEWARD_OWN_SECRETS", ownSecrets),
      ...listed("STEWARD_OWN_VARIABLES", ownVariables),
    },
    secrets: { ...secretVariables(values), ...Object.fromEntries(own) },
  };
}

/** The variable that tells the runtime which names are the operator's own. */
function listed(variable: VariableName, values: object): Record<string, string> {
  const names = Object.keys(values).sort().join(",");
  return names === "" ? {} : { [variable]: names };
}

function secretVariables(values: Values): RuntimeVariables["secrets"] {
  const given: Readonly<Record<string, unknown>> = { ...values, ...webhookSecret(values) };
  const entries = Object.entries(SECRET_VARIABLES).flatMap(([key, variable]) => {
    const value = given[key];
    return typeof value === "string" ? [[variable, pulumi.secret(value)] as const] : [];
  });
  return Object.fromEntries(entries);
}

/**
 * The webhook's secret where none is given: known already in a preview, the same in every one, and no way
 * back from it to the token. A host polls, and needs none.
 */
function webhookSecret({ target, telegramBotToken: token, telegramWebhookSecret }: Values) {
  if (target === "host" || token === undefined || telegramWebhookSecret !== undefined) return {};
  return { telegramWebhookSecret: createHmac("sha256", token).update("telegram-webhook").digest("hex") };
}

function defined(
  values: Readonly<Partial<Record<VariableName, string | undefined>>>,
): Partial<Record<VariableName, string>> {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}
