import * as z from "zod";
import { DURATION_HELP, parseDuration } from "./duration.ts";

/** Who reads a variable: the edge, the container's gateway, or both. */
type Reader = "edge" | "gateway" | "both";

interface Variable {
  readonly reader: Reader;
  readonly secret: boolean;
}

/** The variables that a stack writes and the runtime reads. */
export const VARIABLES = {
  ANTHROPIC_API_KEY: { reader: "gateway", secret: true },
  ANTHROPIC_BASE_URL: { reader: "gateway", secret: false },
  TELEGRAM_BOT_TOKEN: { reader: "gateway", secret: true },
  TELEGRAM_WEBHOOK_SECRET: { reader: "edge", secret: true },
  TELEGRAM_API_ROOT: { reader: "gateway", secret: false },
  TELEGRAM_DM_POLICY: { reader: "gateway", secret: false },
  SLACK_BOT_TOKEN: { reader: "gateway", secret: true },
  SLACK_SIGNING_SECRET: { reader: "both", secret: true },
  SLACK_API_URL: { reader: "gateway", secret: false },
  DISCORD_APPLICATION_ID: { reader: "gateway", secret: false },
  DISCORD_PUBLIC_KEY: { reader: "edge", secret: false },
  DISCORD_BOT_TOKEN: { reader: "gateway", secret: true },
  DISCORD_API_URL: { reader: "gateway", secret: false },
  EDGE_ACCESS_TEAM_DOMAIN: { reader: "edge", secret: false },
  EDGE_ACCESS_AUD: { reader: "edge", secret: false },
  SANDBOX_SLEEP_AFTER: { reader: "edge", secret: false },
  PUBLIC_WEBHOOKS: { reader: "edge", secret: false },
  ADMIN_TOKEN: { reader: "edge", secret: true },
  LOG_LEVEL: { reader: "both", secret: false },
} as const satisfies Record<string, Variable>;

/** The name of a variable. */
export type VariableName = keyof typeof VARIABLES;

/** An environment as a process or a Worker receives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

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

const edgeSchema = z.object({
  SLACK_SIGNING_SECRET: optional,
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
});

/** What the edge runs with. `sleepAfterMs` is `Infinity` for `never`. */
export interface EdgeSettings {
  slackSigningSecret?: string;
  teamDomain?: string;
  audience?: string;
  sleepAfterMs: number;
  publicWebhooks: boolean;
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
      ...(value.EDGE_ACCESS_TEAM_DOMAIN && { teamDomain: value.EDGE_ACCESS_TEAM_DOMAIN }),
      ...(value.EDGE_ACCESS_AUD && { audience: value.EDGE_ACCESS_AUD }),
      sleepAfterMs: value.SANDBOX_SLEEP_AFTER,
      publicWebhooks: value.PUBLIC_WEBHOOKS,
    },
  };
}
