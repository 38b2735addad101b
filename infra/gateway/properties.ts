import * as z from "zod";
import { alertsSchema } from "../../runtime/contract/alerts.ts";
import { DURATION_HELP, parseDuration } from "../../runtime/contract/duration.ts";
import {
  CONFIG_RECOVERIES,
  MAX_REPLAYED,
  SANDBOXES,
  SHORTEST_ADMIN_TOKEN,
  TENANCIES,
} from "../../runtime/contract/environment.ts";
import { isTenantId } from "../../runtime/contract/tenant.ts";
import { formProblem, ownNameProblem, type SecretVariable } from "../../runtime/contract/variables.ts";
import { INSTANCES } from "../serverless/cost.ts";
import { BUCKET_NAME, fittingName, LONGEST, WORKER_NAME } from "../serverless/names.ts";
import type { ArgsOf, EndpointsArgs, Target } from "./args.ts";

/**
 * Secret environment variables, each with the path of its argument. Excludes the attestation key, which is generated.
 */
export const SECRET_ARGUMENTS = {
  ANTHROPIC_API_KEY: "models.anthropicApiKey",
  OPENAI_API_KEY: "models.openaiApiKey",
  SLACK_BOT_TOKEN: "slack.botToken",
  SLACK_SIGNING_SECRET: "slack.signingSecret",
  TELEGRAM_BOT_TOKEN: "telegram.botToken",
  TELEGRAM_WEBHOOK_SECRET: "telegram.webhookSecret",
  DISCORD_BOT_TOKEN: "discord.botToken",
  ADMIN_TOKEN: "adminToken",
  ALERTS: "alerts",
} as const satisfies Record<Exclude<SecretVariable, "ATTESTATION_KEY">, string>;

/** Returns a schema for strings that match a pattern. Its errors contain the description, but not the value. */
function matching(pattern: RegExp, description: string) {
  return z.string().regex(pattern, `must be ${description}`);
}

/** Returns a schema for a resource's name. For an invalid name, the error suggests the most similar valid one. */
function resourceName(pattern: RegExp, description: string, longest: number) {
  return z.string().superRefine((text, context) => {
    if (pattern.test(text)) return;
    const nearest = fittingName(text, longest);
    const value = pattern.test(nearest) ? nearest : undefined;
    context.addIssue({ code: "custom", message: `must be ${description}`, params: { value } });
  });
}

function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be ${oneOfWords(words)}` });
}

function oneOfWords(words: readonly string[]): string {
  return words.join(", ").replace(/, ([^,]*)$/, " or $1");
}

const flag = () => z.boolean({ error: "must be true or false" });

function integer(low: number, high: number) {
  const error = `must be a whole number from ${low} to ${high}`;
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= low && value <= high, error);
}

function amount(low: number, high: number, unit: string) {
  const error = `must be ${unit} from ${low} to ${high}, with at most two decimals`;
  const fits = (value: number): boolean =>
    /^\d{1,6}(\.\d{1,2})?$/.test(String(value)) && value >= low && value <= high;
  return z.number({ error }).refine(fits, error);
}

const secret = () =>
  z.string().superRefine((text, context) => {
    const message = text === "" ? "must not be empty" : formProblem(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

const HOST = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;
const IP_ADDRESS = z.union([z.ipv4(), z.ipv6()], { error: "must be an IP address of the host" });

const teamDomain = () =>
  z
    .string()
    .refine(
      (text) => HOST.test(text) || LOOPBACK.test(text),
      "must be a host name such as example.cloudflareaccess.com, or a loopback origin",
    );

const serverUrl = () =>
  z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .refine((text) => !/^https?:\/\/[^/]*@/.test(text), "must not hold a user name or password")
    .optional();

const ENDPOINTS = {
  slack: serverUrl(),
  telegram: serverUrl(),
  discord: serverUrl(),
  anthropic: serverUrl(),
  openai: serverUrl(),
  worker: serverUrl(),
} satisfies Record<keyof EndpointsArgs, z.ZodType>;
const ENDPOINTS_FORM = `must be an object with ${oneOfWords(Object.keys(ENDPOINTS))}`;

function alerts() {
  const form = 'must be an object such as {"slack": "https://hooks.slack.com/services/…", "after": "5m"}';
  return z.string().superRefine((text, context) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return context.addIssue({ code: "custom", message: form });
    }
    const parsed = alertsSchema().safeParse(value);
    for (const { path, message } of parsed.error?.issues ?? []) {
      const whole = path.length === 0 ? `${message}; ${form}` : message;
      context.addIssue({ code: "custom", path, message: whole });
    }
  });
}

/** https://developers.cloudflare.com/workers/platform/limits/#environment-variables */
const MAX_OWN = 32;
const LONGEST_VARIABLE = 5_000;

/** Error texts never contain values. */
function ownVariables() {
  const error = 'must be an object of texts such as {"MISTRAL_API_KEY": "…"}';
  const value = z
    .string()
    .min(1, "is empty")
    .max(LONGEST_VARIABLE, `has more than ${LONGEST_VARIABLE} characters`);
  return z.record(z.string(), value, { error }).superRefine((values, context) => {
    const names = Object.keys(values);
    if (names.length > MAX_OWN) context.addIssue({ code: "custom", message: `must hold at most ${MAX_OWN}` });
    for (const name of names) {
      const problem = ownNameProblem(name);
      if (problem !== undefined) context.addIssue({ code: "custom", path: [name], message: problem });
    }
  });
}

/** Schema of the migrations' structure only. The classes and tags are checked in rules.ts. */
const MIGRATIONS = z.array(z.strictObject({ tag: z.string(), newSqliteClasses: z.array(z.string()) }), {
  error: "must be a list of {tag, newSqliteClasses}",
});

/** Arguments that are objects. */
type Group = "access" | "cloudflare" | "discord" | "models" | "slack" | "telegram";
/** Paths of a target's arguments, such as `sleepAfter` and `slack.botToken`. */
type Paths<Args> = {
  [Name in keyof Args & string]-?: Name extends Group
    ? `${Name}.${keyof NonNullable<Args[Name]> & string}`
    : Name;
}[keyof Args & string];
type Schemas<Of extends Target> = Readonly<Record<Paths<ArgsOf[Of]>, z.ZodType>>;

const COMMON = {
  "models.anthropicApiKey": secret(),
  "models.openaiApiKey": secret(),
  "slack.botToken": secret(),
  "slack.signingSecret": secret(),
  "telegram.botToken": secret(),
  "telegram.webhookSecret": secret().regex(/^[\w-]{1,256}$/, "must be 1 to 256 letters, digits, _ and -"),
  "discord.botToken": secret(),
  "discord.applicationId": matching(/^\d{15,22}$/, "Discord's numeric application id"),
  "discord.publicKey": matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits"),
  publicWebhooks: flag(),
  environmentName: matching(/^[\w. -]{1,40}$/, "1 to 40 letters, digits, spaces, dots, _ and -"),
  logLevel: oneOf(["debug", "info", "warning", "error"]),
  configRecovery: oneOf(CONFIG_RECOVERIES),
  replayEvents: integer(0, MAX_REPLAYED),
  tenancy: oneOf(TENANCIES),
  maxSandboxes: integer(1, SANDBOXES.most),
  image: matching(/^\S{1,512}$/, "an image's name without spaces, or build"),
  imagePublicKey: matching(
    /^-----BEGIN PUBLIC KEY-----\s[\w+/=\s]{40,4000}-----END PUBLIC KEY-----\s*$/,
    "a public key as PEM, as in cosign.pub",
  ),
  endpoints: z.strictObject(ENDPOINTS, {
    error: ({ code }) => (code === "invalid_type" ? ENDPOINTS_FORM : undefined),
  }),
  secrets: ownVariables(),
  variables: ownVariables(),
  alerts: alerts(),
  protectState: flag(),
  "access.teamDomain": teamDomain(),
};

const SERVERLESS: Schemas<"serverless"> = {
  ...COMMON,
  accountId: matching(/^[0-9a-f]{32}$/, "the account's 32 hexadecimal digits"),
  "cloudflare.apiToken": matching(/^[\w-]{40,80}$/, "an API token (40 to 80 letters, digits, _ and -)"),
  "cloudflare.baseUrl": z.url({ protocol: /^https?$/, error: "must be an http or https address" }),
  "cloudflare.tokenInEnvironment": flag(),
  subdomain: matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "the part before .workers.dev"),
  hostname: matching(HOST, "a host name in lower case, without scheme and path"),
  "slack.appId": matching(/^A[A-Z0-9]{6,20}$/, "a Slack app's id, such as A0123456789"),
  "slack.configToken": secret(),
  "access.operators": z
    .array(z.email("every operator must be an e-mail address"), {
      error: "must be a list of e-mail addresses",
    })
    .min(1, "must name at least one operator"),
  workerName: resourceName(
    WORKER_NAME,
    "1 to 54 lower-case letters, digits and inner dashes",
    LONGEST.worker,
  ),
  bucketName: resourceName(
    BUCKET_NAME,
    "3 to 63 lower-case letters, digits and inner dashes",
    LONGEST.bucket,
  ),
  bucketOnDestroy: oneOf(["keep", "empty"]),
  adoptBucket: matching(/^[a-z0-9-]{3,63}$/, "the id or the name that the preview prints"),
  sleepAfter: z
    .string()
    .refine((text) => parseDuration(text) !== undefined, `must be ${DURATION_HELP.replaceAll("`", "")}`),
  canaryTenants: z
    .array(z.string().refine(isTenantId, "must be a tenant's id such as slack-C0123456789"), {
      error: "must be a list of tenants' ids",
    })
    .refine((list) => list.join().length <= LONGEST_VARIABLE, `has more than ${LONGEST_VARIABLE} characters`),
  migrations: MIGRATIONS,
  instanceType: oneOf(Object.keys(INSTANCES) as [keyof typeof INSTANCES]),
  expectedAwakeHours: amount(0, 24, "hours a day"),
  monthlyBudget: amount(0, 100_000, "US dollars"),
  monthlyChatBudget: amount(0, 100_000, "US dollars"),
  registry: matching(
    /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost)(?::\d{1,5})?$/,
    "a registry's host without scheme and path, such as registry.cloudflare.com",
  ),
  origin: matching(LOOPBACK, "a loopback origin such as http://127.0.0.1:8787"),
};

/** https://docs.docker.com/reference/cli/docker/container/create/ */
const DOCKER_NAME = /^[a-zA-Z0-9][\w.-]{0,127}$/;
const dockerName = () => matching(DOCKER_NAME, "a name of letters, digits, _, . and -");

const HOST_PROPERTIES: Schemas<"host"> = {
  ...COMMON,
  "access.audience": matching(/^[0-9a-f]{64}$/, "the Access application's 64 hexadecimal digits"),
  adminToken: secret().refine(
    (text) => text.length >= SHORTEST_ADMIN_TOKEN,
    `must have at least ${SHORTEST_ADMIN_TOKEN} characters`,
  ),
  dockerHost: matching(/^(unix:\/\/\/|ssh:\/\/|tcp:\/\/)\S+$/, "a unix:// or ssh:// address"),
  port: integer(1, 65_535),
  address: IP_ADDRESS,
  dataDirectory: matching(/^\/[^\s:,]+$/, "an absolute path without spaces, colons and commas"),
  containerName: dockerName(),
  volumeName: dockerName(),
  diskMiB: integer(0, 1_048_576),
  memoryMiB: integer(128, 1_048_576),
  cpus: z
    .number({ error: "must be a number of processors such as 1 or 0.5" })
    .refine(
      (value) => value > 0 && /^\d{1,3}(?:\.\d{1,2})?$/.test(String(value)),
      "must be a number of processors such as 1 or 0.5",
    ),
  maxProcesses: integer(64, 32_768),
  logMaxMiB: integer(1, 10_240),
  logFiles: integer(1, 100),
};

export const PROPERTIES: Record<Target, Readonly<Record<string, z.ZodType>>> = {
  serverless: SERVERLESS,
  host: HOST_PROPERTIES,
};

export const REQUIRED: Record<Target, readonly string[]> = {
  serverless: ["models.anthropicApiKey", "accountId"],
  host: ["models.anthropicApiKey"],
};
