import * as z from "zod";
import { DURATION_HELP, parseDuration } from "./duration.ts";
import { VARIABLES, type Environment, type VariableName } from "./variables.ts";

export { VARIABLES, type Environment, type VariableName } from "./variables.ts";

/** The part of an environment that goes into the container. Empty values are left out. */
export function gatewayEnvironment(environment: Environment): Record<string, string> {
  const names = (Object.keys(VARIABLES) as VariableName[]).filter(
    (name) => VARIABLES[name].reader !== "edge",
  );
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

const optional = z
  .string()
  .optional()
  .transform((value) => (value === "" ? undefined : value));

/**
 * Who mends a config that stops the gateway: `auto` takes the one of the newest backup in which it was valid,
 * once a start.
 */
export const CONFIG_RECOVERIES = ["manual", "auto"] as const;

const edgeSchema = z.object({
  SLACK_SIGNING_SECRET: optional,
  TELEGRAM_WEBHOOK_SECRET: optional,
  DISCORD_PUBLIC_KEY: optional.refine((text) => text === undefined || /^[0-9a-f]{64}$/i.test(text), {
    message: "the value is not 64 hexadecimal digits",
  }),
  EDGE_ACCESS_TEAM_DOMAIN: optional,
  EDGE_ACCESS_AUD: optional,
  SANDBOX_SLEEP_AFTER: optional.transform((text, context) => {
    const milliseconds = parseDuration(text ?? "10m");
    if (milliseconds !== undefined) return milliseconds;
    context.addIssue({ code: "custom", message: `"${text}" is not ${DURATION_HELP}` });
    return z.NEVER;
  }),
  PUBLIC_WEBHOOKS: optional.transform((text, context) => {
    if (text === undefined || text === "true" || text === "false") return text !== "false";
    context.addIssue({ code: "custom", message: `"${text}" is neither "true" nor "false"` });
    return z.NEVER;
  }),
  CONFIG_RECOVERY: optional.transform((text, context) => {
    const known = CONFIG_RECOVERIES.find((one) => one === (text ?? "manual"));
    if (known !== undefined) return known;
    context.addIssue({ code: "custom", message: `"${text}" is neither "manual" nor "auto"` });
    return z.NEVER;
  }),
});

/** What the edge runs with. `sleepAfterMs` is `Infinity` for `never`. */
export interface EdgeSettings {
  slackSigningSecret?: string;
  telegramWebhookSecret?: string;
  /** 64 hexadecimal digits. */
  discordPublicKey?: string;
  teamDomain?: string;
  audience?: string;
  sleepAfterMs: number;
  publicWebhooks: boolean;
  configRecovery: (typeof CONFIG_RECOVERIES)[number];
}

/** The edge's settings, or every variable that is wrong, named. */
export type EdgeSettingsResult = { ok: true; settings: EdgeSettings } | { ok: false; problems: string[] };

/** Reads the edge's variables from an environment; other entries of it are not looked at. */
export function readEdgeSettings(environment: Readonly<Record<string, unknown>>): EdgeSettingsResult {
  const parsed = edgeSchema.safeParse(environment);
  if (!parsed.success) {
    return { ok: false, problems: parsed.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`) };
  }
  const value = parsed.data;
  return {
    ok: true,
    settings: {
      ...(value.SLACK_SIGNING_SECRET && { slackSigningSecret: value.SLACK_SIGNING_SECRET }),
      ...(value.TELEGRAM_WEBHOOK_SECRET && { telegramWebhookSecret: value.TELEGRAM_WEBHOOK_SECRET }),
      ...(value.DISCORD_PUBLIC_KEY && { discordPublicKey: value.DISCORD_PUBLIC_KEY }),
      ...(value.EDGE_ACCESS_TEAM_DOMAIN && { teamDomain: value.EDGE_ACCESS_TEAM_DOMAIN }),
      ...(value.EDGE_ACCESS_AUD && { audience: value.EDGE_ACCESS_AUD }),
      sleepAfterMs: value.SANDBOX_SLEEP_AFTER,
      publicWebhooks: value.PUBLIC_WEBHOOKS,
      configRecovery: value.CONFIG_RECOVERY,
    },
  };
}
