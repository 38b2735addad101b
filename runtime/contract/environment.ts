import * as z from "zod/mini";
import { parseAlerts, type AlertSettings } from "./alerts.ts";
import { DURATION_HELP, parseDuration } from "./duration.ts";

import { isTenantId } from "./tenant.ts";
import { type EdgeVariable, formProblem, VARIABLES } from "./variables.ts";

export { gatewayVariables, VARIABLES, type Environment, type VariableName } from "./variables.ts";

const optional = z.pipe(
  z.optional(z.string()),
  z.transform((text) => (text === "" ? undefined : text)),
);

/**
 * Returns the schema of a variable that `read` parses. If `read` returns `undefined`, the value is invalid, and the
 * error message ends with `form`, for example `not a number`.
 */
function readAs<T>(read: (text: string | undefined) => T | undefined, form: string) {
  const transform = z.transform((text: string | undefined, { issues }) => {
    const value = read(text);
    if (value !== undefined) return value;
    issues.push({ code: "custom", message: `"${text}" is ${form}`, input: text });
    return z.NEVER;
  });
  return z.pipe(optional, transform);
}

/**
 * Responses to a config with which the gateway cannot start: `manual` waits for an operator, `auto` restores the
 * newest valid config from the backups.
 */
export const CONFIG_RECOVERIES = ["manual", "auto"] as const;

/** `shared`: one sandbox serves the whole deployment. `chat`: each chat has its own sandbox; see tenant.ts. */
export const TENANCIES = ["shared", "chat"] as const;

export type Tenancy = (typeof TENANCIES)[number];

/** Default and upper limit of MAX_SANDBOXES. */
export const SANDBOXES = { default: 10, most: 500 } as const;

export const MAX_REPLAYED = 500;

/** Minimum length of ADMIN_TOKEN, in characters. */
export const SHORTEST_ADMIN_TOKEN = 16;

/** Edge variables that the schema omits, because other modules read them. */
type ReadElsewhere =
  | "ATTESTATION_KEY"
  | "LOG_LEVEL"
  | "PUBLIC_ORIGIN"
  | "STEWARD_OWN_SECRETS"
  | "STEWARD_OWN_VARIABLES";

/** Builds the schema on demand, because a Worker's start may use only 20 ms of CPU time. */
const edgeSchema = () =>
  z.object({
    SLACK_SIGNING_SECRET: optional,
    TELEGRAM_WEBHOOK_SECRET: optional,
    DISCORD_PUBLIC_KEY: optional.check(
      z.refine((text) => text === undefined || /^[0-9a-f]{64}$/i.test(text), {
        message: "the value is not 64 hexadecimal digits",
      }),
    ),
    ENVIRONMENT_NAME: optional,
    EDGE_ACCESS_TEAM_DOMAIN: optional,
    EDGE_ACCESS_AUD: optional,
    SANDBOX_SLEEP_AFTER: readAs((text) => parseDuration(text ?? "10m"), `not ${DURATION_HELP}`),
    PUBLIC_WEBHOOKS: readAs(
      (text) => (text === undefined || text === "true" || text === "false" ? text !== "false" : undefined),
      'neither "true" nor "false"',
    ),
    CONFIG_RECOVERY: readAs(
      (text) => CONFIG_RECOVERIES.find((one) => one === (text ?? "manual")),
      'neither "manual" nor "auto"',
    ),
    REPLAY_EVENTS: readAs((text) => {
      const events = Number(text ?? "0");
      return Number.isInteger(events) && events >= 0 && events <= MAX_REPLAYED ? events : undefined;
    }, `not a whole number from 0 to ${MAX_REPLAYED}`),
    TENANCY: readAs(
      (text) => TENANCIES.find((one) => one === (text ?? "shared")),
      'neither "shared" nor "chat"',
    ),
    MAX_SANDBOXES: readAs((text) => {
      const sandboxes = Number(text ?? SANDBOXES.default);
      return Number.isInteger(sandboxes) && sandboxes >= 1 && sandboxes <= SANDBOXES.most
        ? sandboxes
        : undefined;
    }, `not a whole number from 1 to ${SANDBOXES.most}`),
    CANARY_TENANTS: readAs((text) => {
      const tenants = (text ?? "").split(",").filter((tenant) => tenant !== "");
      return tenants.every(isTenantId) ? tenants : undefined;
    }, "not a list of tenant ids"),
    // Require a long token: only its length protects against guessing.
    ADMIN_TOKEN: optional.check(
      z.refine((text) => text === undefined || text.length >= SHORTEST_ADMIN_TOKEN, {
        message: `the value has fewer than ${SHORTEST_ADMIN_TOKEN} characters`,
      }),
    ),
    // The value is a secret, so the validation error does not show it.
    ALERTS: z.pipe(
      optional,
      z.transform((text, { issues }) => {
        const settings = text === undefined ? undefined : parseAlerts(text);
        if (text !== undefined && settings === undefined) {
          issues.push({
            code: "custom",
            message: "the value is not of the form of steward:alerts",
            input: "",
          });
        }
        return settings;
      }),
    ),
  } satisfies Record<Exclude<EdgeVariable, ReadElsewhere>, z.ZodMiniType>);

/** Keys of {@link EdgeSettings}, by environment variable. Omits ADMIN_TOKEN, because only the sign-in reads it. */
const SETTINGS = {
  SLACK_SIGNING_SECRET: "slackSigningSecret",
  TELEGRAM_WEBHOOK_SECRET: "telegramWebhookSecret",
  DISCORD_PUBLIC_KEY: "discordPublicKey",
  ENVIRONMENT_NAME: "environmentName",
  EDGE_ACCESS_TEAM_DOMAIN: "teamDomain",
  EDGE_ACCESS_AUD: "audience",
  SANDBOX_SLEEP_AFTER: "sleepAfterMs",
  PUBLIC_WEBHOOKS: "publicWebhooks",
  CONFIG_RECOVERY: "configRecovery",
  REPLAY_EVENTS: "replayEvents",
  TENANCY: "tenancy",
  MAX_SANDBOXES: "maxSandboxes",
  CANARY_TENANTS: "canaryTenants",
  ALERTS: "alerts",
} as const satisfies Record<Exclude<keyof Values, "ADMIN_TOKEN">, keyof EdgeSettings>;

type Values = z.infer<ReturnType<typeof edgeSchema>>;

export interface EdgeSettings {
  slackSigningSecret?: string;
  telegramWebhookSecret?: string;
  /** 64 hexadecimal digits. */
  discordPublicKey?: string;
  /** Name that every admin page shows, so that nobody mistakes production for another environment. */
  environmentName?: string;
  teamDomain?: string;
  audience?: string;
  /** `Infinity` for `never`. */
  sleepAfterMs: number;
  publicWebhooks: boolean;
  configRecovery: (typeof CONFIG_RECOVERIES)[number];
  /** Maximum number of past events, redacted, that a rollout replays; 0 disables the replay. */
  replayEvents: number;
  tenancy: Tenancy;
  /** Maximum number of containers that run at the same time. */
  maxSandboxes: number;
  /** Tenants that an update reaches first. */
  canaryTenants: readonly string[];
  alerts?: AlertSettings;
}

/** The edge's settings, or one problem per wrong variable. */
export type EdgeSettingsResult = { ok: true; settings: EdgeSettings } | { ok: false; problems: string[] };

/** Returns one problem per malformed value of a variable in {@link VARIABLES} (see {@link formProblem}). */
function formProblems(environment: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(VARIABLES).flatMap((name) => {
    const value = environment[name];
    const problem = typeof value === "string" ? formProblem(value) : undefined;
    return problem === undefined ? [] : [`${name}: the value ${problem}`];
  });
}

/** Reads the edge's variables. Checks the gateway's variables only for malformed values. */
export function readEdgeSettings(environment: Readonly<Record<string, unknown>>): EdgeSettingsResult {
  const parsed = edgeSchema().safeParse(environment);
  const problems = [
    ...formProblems(environment),
    ...(parsed.success ? [] : parsed.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`)),
  ];
  if (!parsed.success || problems.length > 0) return { ok: false, problems };
  const values = Object.entries(SETTINGS).map(([name, key]) => [key, parsed.data[name as keyof Values]]);
  const known = values.filter(([, value]) => value !== undefined);
  return { ok: true, settings: Object.fromEntries(known) as EdgeSettings };
}
