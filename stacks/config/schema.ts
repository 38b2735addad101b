import * as z from "zod";
import {
  CONFIG_RECOVERIES,
  SHORTEST_ADMIN_TOKEN,
  type VariableName,
} from "../../runtime/contract/environment.ts";
import { formProblem } from "../../runtime/contract/variables.ts";
import { BUCKET_NAME, LONGEST, WORKER_NAME } from "../../infra/serverless/names.ts";
import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import {
  alerts,
  amount,
  duration,
  flag,
  hostName,
  integer,
  loopbackOrigin,
  matching,
  migrations,
  oneOf,
  ownVariables,
  resourceName,
  serverUrl,
  structured,
  teamDomain,
} from "./fields.ts";

const secret = () =>
  z.string().superRefine((text, context) => {
    const message = text === "" ? "must not be empty" : formProblem(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

/** Variables that the runtime reads as secrets, by the key that holds them. */
export const SECRET_VARIABLES = {
  anthropicApiKey: "ANTHROPIC_API_KEY",
  openaiApiKey: "OPENAI_API_KEY",
  slackBotToken: "SLACK_BOT_TOKEN",
  slackSigningSecret: "SLACK_SIGNING_SECRET",
  telegramBotToken: "TELEGRAM_BOT_TOKEN",
  telegramWebhookSecret: "TELEGRAM_WEBHOOK_SECRET",
  discordBotToken: "DISCORD_BOT_TOKEN",
  adminToken: "ADMIN_TOKEN",
  alerts: "ALERTS",
} as const satisfies Record<string, VariableName>;

/** Keys of secrets that do not belong to one variable: what the deployment itself uses, and the operator's own. */
const OWN_SECRETS = ["slackConfigToken", "secrets"] as const;

/** A key that is stored as a secret. */
export type SecretKey = keyof typeof SECRET_VARIABLES | (typeof OWN_SECRETS)[number];

/** Every key that is stored as a secret. */
export const SECRET_KEYS = [...(Object.keys(SECRET_VARIABLES) as SecretKey[]), ...OWN_SECRETS];

const common = {
  /** Model provider key. Required. */
  anthropicApiKey: secret(),
  /** Key of a second model provider, OpenAI's or one that speaks its protocol. */
  openaiApiKey: secret().optional(),
  slackBotToken: secret().optional(),
  slackSigningSecret: secret().optional(),
  telegramBotToken: secret().optional(),
  /** Default, on a serverless stack: one that is derived from the bot's token. */
  telegramWebhookSecret: secret()
    .regex(/^[\w-]{1,256}$/, "must be 1 to 256 letters, digits, _ and -")
    .optional(),
  discordBotToken: secret().optional(),
  discordApplicationId: matching(/^\d{15,22}$/, "Discord's numeric application id").optional(),
  discordPublicKey: matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits").optional(),
  /** True if webhooks come in without an identity; each is verified by its platform's signature. */
  publicWebhooks: flag().default(true),
  /** Shown on every admin page. Default: the stack's name. */
  environmentName: matching(/^[\w. -]{1,40}$/, "1 to 40 letters, digits, spaces, dots, _ and -").optional(),
  logLevel: oneOf(["debug", "info", "warning", "error"]).default("info"),
  /** Policy for a config that stops the gateway. Default: `manual`. */
  configRecovery: oneOf(CONFIG_RECOVERIES).optional(),
  /** A built image. Default: the one that is built from this checkout. */
  image: matching(/^\S+$/, "an image's name without spaces").optional(),
  /** Other servers than the platforms' own, for tests and rehearsals. */
  endpoints: structured(
    z.strictObject({
      slack: serverUrl().optional(),
      telegram: serverUrl().optional(),
      discord: serverUrl().optional(),
      anthropic: serverUrl().optional(),
      openai: serverUrl().optional(),
      /** Place where the container reaches the Worker. */
      worker: serverUrl().optional(),
    }),
    "an object with slack, telegram, discord, anthropic, openai or worker",
  ).prefault("{}"),
  /** Secrets of the operator's own, by the name of their variable, for `{"env": "NAME"}` in the config. */
  secrets: ownVariables().optional(),
  /** The same for what is no secret. */
  variables: ownVariables().optional(),
  /** Destinations of alerts about an outage, besides the bot: see `alertsSchema`. */
  alerts: alerts().optional(),
  /** Keeps the bucket or volume when the stack is destroyed. */
  protectState: flag().default(false),
};

/** `steward:*` of a stack on Cloudflare. */
export const serverlessSchema = z.strictObject({
  target: z.literal("serverless"),
  ...common,
  workerName: resourceName(
    WORKER_NAME,
    "1 to 54 lower-case letters, digits and inner dashes",
    LONGEST.worker,
  ).default("steward"),
  /** Default: the bucket that the stack already has, else a name derived from the stack's. */
  bucketName: resourceName(
    BUCKET_NAME,
    "3 to 63 lower-case letters, digits and inner dashes",
    LONGEST.bucket,
  ).optional(),
  /** Treatment of a bucket that holds something when the stack is destroyed. */
  bucketOnDestroy: oneOf(["keep", "empty"]).default("keep"),
  /** Confirms that the stack may take over a bucket: the id that the preview prints, or the name if it has no marker. */
  adoptBucket: matching(/^[a-z0-9-]{3,63}$/, "the id or the name that the preview prints").optional(),
  accountId: matching(/^[0-9a-f]{32}$/, "the account's 32 hexadecimal digits"),
  /** The account's name on workers.dev. Give this or `hostname`. */
  subdomain: matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "the part before .workers.dev").optional(),
  hostname: hostName().optional(),
  sleepAfter: duration().default("10m"),
  /** Give this and `operators`, or neither: then the admin pages stay closed. */
  teamDomain: teamDomain().optional(),
  operators: structured(
    z.array(z.email("every operator must be an e-mail address")).min(1, "must name at least one operator"),
    "a list of e-mail addresses",
  ).optional(),
  migrations: migrations().default([{ tag: "v1", newSqliteClasses: [SANDBOX_CLASS] }]),
  instanceType: oneOf(["lite", "basic", "standard-1", "standard-2", "standard-3", "standard-4"]).default(
    "lite",
  ),
  /** Hours a day that the container is expected to run; for the estimate of the cost, until it was measured. */
  expectedAwakeHours: amount(0, 24, "hours a day").optional(),
  /** In US dollars. An expected cost above it is refused, a measured one warned of. Default: none. */
  monthlyBudget: amount(0, 100_000, "US dollars").optional(),
  /** Delivery of Telegram's updates. Only `webhook` is valid here, since a sleeping container cannot poll. */
  telegramUpdates: oneOf(["webhook", "polling"]).default("webhook"),
  /** The Slack app whose manifest the stack sets. Give this and `slackConfigToken`, or neither. */
  slackAppId: matching(/^A[A-Z0-9]{6,20}$/, "a Slack app's id, such as A0123456789").optional(),
  /** An app configuration token of Slack's, good for twelve hours. */
  slackConfigToken: secret().optional(),
  /** Registry that the image is pushed to. Default: Cloudflare's; with `origin` none. */
  registry: matching(
    /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost)(?::\d{1,5})?$/,
    "a registry's host without scheme and path, such as registry.cloudflare.com",
  ).optional(),
  /** The address that the probes ask, for rehearsals. */
  origin: loopbackOrigin().optional(),
});

/** `steward:*` of a stack on one Docker host. */
export const hostSchema = z.strictObject({
  target: z.literal("host"),
  ...common,
  /** The identity gateway in front of a tunnel. Give this and `audience`, or neither. */
  teamDomain: teamDomain().optional(),
  /** Audience of the identity gateway's tokens: the Access application's. */
  audience: matching(/^[0-9a-f]{64}$/, "the Access application's 64 hexadecimal digits").optional(),
  /** Token for signing in to the admin pages without an identity gateway. Default: none, and they stay closed. */
  adminToken: secret()
    .refine(
      (text) => text.length >= SHORTEST_ADMIN_TOKEN,
      `must have at least ${SHORTEST_ADMIN_TOKEN} characters`,
    )
    .optional(),
  /** The Docker engine. Default: DOCKER_HOST, else this machine's. */
  docker: matching(/^(unix:\/\/\/|ssh:\/\/)\S+$/, "a unix:// or ssh:// address").optional(),
  hostPort: integer(1, 65_535).default(8080),
  /** The host's address that the port is mapped on. */
  hostAddress: z
    .union([z.ipv4(), z.ipv6()], { error: "must be an IP address of the host" })
    .default("0.0.0.0"),
  /** A directory of the host that keeps the data. Default: a named volume. */
  hostDataDirectory: matching(
    /^\/[^\s:,]+$/,
    "an absolute path without spaces, colons and commas",
  ).optional(),
  /** Free space that the preflight asks for, on the engine's disk and the data's. */
  diskMiB: integer(0, 1_048_576).default(1024),
  memoryMiB: integer(128, 1_048_576).default(512),
  /** Processors that the container may keep busy. */
  cpus: matching(
    /^(?!0+(?:\.0+)?$)\d{1,3}(?:\.\d{1,2})?$/,
    "a number of processors such as 1 or 0.5",
  ).default("1"),
  /** Processes and threads; the kernel counts them for the container's user on the whole host. */
  maxProcesses: integer(64, 32_768).default(512),
  /** Part of the container's output that the engine keeps: `logFiles` files of `logMaxMiB` each. */
  logMaxMiB: integer(1, 10_240).default(10),
  logFiles: integer(1, 100).default(3),
});

/** The schema of each target. */
export const SCHEMAS = { serverless: serverlessSchema, host: hostSchema } as const;

/** Target that a stack deploys to. */
export type Target = keyof typeof SCHEMAS;

/** True for a key that has to be stored as a secret. */
export function isSecretKey(key: string): key is SecretKey {
  return SECRET_KEYS.some((secret) => secret === key);
}
