import type * as pulumi from "@pulumi/pulumi";
import { type CONFIG_RECOVERIES, SANDBOXES, type TENANCIES } from "../../runtime/contract/environment.ts";
import { DIRECTORY_CLASS, SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import type { InstanceType } from "../serverless/container-api.ts";
import type { Migration } from "../serverless/migration-list.ts";

/** Value of `image` that builds the package's own image. */
export const BUILD = "build";

/** Keys of model providers. */
export interface ModelsArgs {
  /** Anthropic's API key; a secret. Required. */
  anthropicApiKey: pulumi.Input<string>;
  /** API key of OpenAI or of a compatible server (see `endpoints.openai`); a secret. Default: no second provider. */
  openaiApiKey?: pulumi.Input<string> | undefined;
}

/** A Telegram bot. */
export interface TelegramArgs {
  /** The token from Telegram's BotFather; a secret. Required if `webhookSecret` is set. */
  botToken?: pulumi.Input<string> | undefined;
  /**
   * Text that Telegram sends with every update; a secret of 1 to 256 letters, digits, `_` and `-`. Default: derived
   * from `botToken`. Unused on a host, which polls Telegram.
   */
  webhookSecret?: pulumi.Input<string> | undefined;
}

/** A Slack app. Give both properties, or neither. */
export interface SlackArgs {
  /** The bot token (`xoxb-…`); a secret. */
  botToken?: pulumi.Input<string> | undefined;
  /** The signing secret; a secret. */
  signingSecret?: pulumi.Input<string> | undefined;
}

/** A Slack app whose manifest the gateway may set. */
export interface SlackAppArgs extends SlackArgs {
  /**
   * The app's id, such as `A0123456789`; required with `configToken`. If absent, the app's manifest is not updated.
   */
  appId?: pulumi.Input<string> | undefined;
  /** An app configuration token, which is valid for 12 hours; a secret. */
  configToken?: pulumi.Input<string> | undefined;
}

/** A Discord application. Give all three properties, or none. */
export interface DiscordArgs {
  /** The bot's token; a secret. */
  botToken?: pulumi.Input<string> | undefined;
  /** The numeric application id. */
  applicationId?: pulumi.Input<string> | undefined;
  /** The key that verifies interactions: 64 hexadecimal digits. */
  publicKey?: pulumi.Input<string> | undefined;
}

/** Server addresses for tests and rehearsals. Default: the platforms' own. */
export interface EndpointsArgs {
  slack?: string | undefined;
  telegram?: string | undefined;
  discord?: string | undefined;
  anthropic?: string | undefined;
  /** Base URL of a provider compatible with OpenAI's API, including the version, such as `https://host/v1`. */
  openai?: string | undefined;
  /** Address at which the container reaches the Worker. */
  worker?: string | undefined;
}

/** Arguments of both gateways. */
export interface GatewayArgs {
  models: ModelsArgs;
  /** Default: no Telegram. */
  telegram?: TelegramArgs | undefined;
  /** Default: no Slack. */
  slack?: SlackArgs | undefined;
  /** Default: no Discord. */
  discord?: DiscordArgs | undefined;
  /** Let platforms send webhooks without signing in. Each platform's signature is still verified. Default: true. */
  publicWebhooks?: boolean | undefined;
  /** Shown on every admin page: 1 to 40 letters, digits, spaces, dots, `_` and `-`. Default: the stack's name. */
  environmentName?: string | undefined;
  /** Default: `info`. */
  logLevel?: "debug" | "info" | "warning" | "error" | undefined;
  /** Policy for a config file that keeps the gateway from starting. Default: `manual`. */
  configRecovery?: (typeof CONFIG_RECOVERIES)[number] | undefined;
  /**
   * Number of past events, 0 to 500, that a rollout may replay on the next version. The service first redacts
   * everything that people wrote. Default: 0.
   */
  replayEvents?: number | undefined;
  /**
   * Name of an image, or `build` to build the image from the package. Default: the package's published image, pinned
   * by digest after its release signature has been verified; if the package is unpublished, `build`.
   */
  image?: pulumi.Input<string> | undefined;
  /**
   * PEM-encoded Cosign public key. The image named by `image` must be signed with the matching private key. Default:
   * no signature is required.
   */
  imagePublicKey?: pulumi.Input<string> | undefined;
  endpoints?: EndpointsArgs | undefined;
  /**
   * Additional variables by name, each a secret. The config file refers to one as `{"env": "NAME"}`. At most 32, and no
   * name that is also in `variables`.
   */
  secrets?: Record<string, pulumi.Input<string>> | undefined;
  /**
   * Additional non-secret environment variables, by name. The config file refers to one as `{"env": "NAME"}`. At most
   * 32.
   */
  variables?: Record<string, pulumi.Input<string>> | undefined;
  /**
   * Destinations of outage alerts, as JSON such as `{"slack": "https://hooks.slack.com/…", "after": "5m"}`; a secret.
   * Default: alerts go only to the bot's operators.
   */
  alerts?: pulumi.Input<string> | undefined;
  /** True to protect the bucket or volume from deletion, even when the stack is destroyed. Default: false. */
  protectState?: boolean | undefined;
}

/** Credentials of Cloudflare's API. */
export interface CloudflareArgs {
  /** Cloudflare API token, treated as a secret. Default: the token of the component's `cloudflare` provider. */
  apiToken?: pulumi.Input<string> | undefined;
  /** Alternative API address, for rehearsals. Default: the provider's. */
  baseUrl?: pulumi.Input<string> | undefined;
  /**
   * True if CLOUDFLARE_API_TOKEN is in the environment of every deployment. If so, no resource stores the token.
   * Default: false.
   */
  tokenInEnvironment?: boolean | undefined;
}

/**
 * Identity gateway for a Worker's admin pages. Give both properties, or neither: without an identity gateway, the
 * pages stay closed.
 */
export interface ServerlessAccessArgs {
  /** The team's host name, such as `example.cloudflareaccess.com`. */
  teamDomain?: pulumi.Input<string> | undefined;
  /** E-mail addresses of the people who may sign in; at least one. */
  operators?: pulumi.Input<string>[] | undefined;
}

export interface ServerlessGatewayArgs extends GatewayArgs {
  /** The Cloudflare account's id: 32 hexadecimal digits. Required. */
  accountId: pulumi.Input<string>;
  /** Default: the credentials of the component's `cloudflare` provider. */
  cloudflare?: CloudflareArgs | undefined;
  /** The account's name on workers.dev. Give this or `hostname`. */
  subdomain?: pulumi.Input<string> | undefined;
  /** A host name in one of the account's zones, in lower case. Give this or `subdomain`. */
  hostname?: pulumi.Input<string> | undefined;
  slack?: SlackAppArgs | undefined;
  access?: ServerlessAccessArgs | undefined;
  /**
   * The Worker's name: 1 to 54 lower-case letters, digits and inner dashes. Default: derived from the project, stack
   * and component names.
   */
  workerName?: string | undefined;
  /**
   * The state bucket's name: 3 to 63 lower-case letters, digits and inner dashes. Default: the stack's existing
   * bucket, else derived from the project, stack and component names.
   */
  bucketName?: pulumi.Input<string> | undefined;
  /**
   * Action on a bucket that still has content when the stack is destroyed. `empty` cannot be combined with
   * `protectState`. Default: `keep`.
   */
  bucketOnDestroy?: "keep" | "empty" | undefined;
  /**
   * Value that confirms the adoption of an existing bucket. The preview prints this value: the id in the bucket's
   * marker or, without a readable marker, the bucket's name.
   */
  adoptBucket?: string | undefined;
  /** Idle time after which the container sleeps: `never` or a duration such as `10m`. Default: `10m`. */
  sleepAfter?: string | undefined;
  /**
   * `shared`: one sandbox serves all chats. `chat`: each chat has a separate sandbox, with its own container and data.
   * Default: `shared`.
   */
  tenancy?: (typeof TENANCIES)[number] | undefined;
  /** Maximum concurrent containers, 1 to 500. Only if `tenancy` is `chat`. Default: 10. */
  maxSandboxes?: number | undefined;
  /** Chats that receive an update first, as tenant ids such as `slack-C0123456789`. Only if `tenancy` is `chat`. */
  canaryTenants?: string[] | undefined;
  /**
   * The Worker's migrations, tagged `v1`, `v2`, … in order. By default, `v1` creates the container's class and, if
   * `tenancy` is `chat`, `v2` creates the chat directory's class.
   */
  migrations?: Migration[] | undefined;
  /** Size of the container. Default: `lite`. */
  instanceType?: InstanceType | undefined;
  /**
   * Expected total running time of all containers, in hours a day (0 to 24), for the cost estimate until usage is
   * measured. If `sleepAfter` is `never`, only 24 is valid. Default: estimated for 8 conversations a day.
   */
  expectedAwakeHours?: number | undefined;
  /** US dollars a month. A higher estimate is an error, a higher measured cost a warning. Default: no budget. */
  monthlyBudget?: number | undefined;
  /**
   * Budget for each chat's container, in US dollars a month; only if `tenancy` is `chat`. A preview names chats with
   * a higher measured cost. Default: no budget.
   */
  monthlyChatBudget?: number | undefined;
  /** Host of the registry that receives the image. Default: Cloudflare's, or none if `origin` is given. */
  registry?: string | undefined;
  /** Loopback origin that probes use instead of the Worker's address, for rehearsals. */
  origin?: string | undefined;
}

/** An identity gateway in front of a host. Give both properties, or neither. Cannot be combined with `adminToken`. */
export interface HostAccessArgs {
  /** The team's host name, such as `example.cloudflareaccess.com`. */
  teamDomain?: pulumi.Input<string> | undefined;
  /** Audience of the identity gateway's tokens: the Access application's audience tag, 64 hexadecimal digits. */
  audience?: pulumi.Input<string> | undefined;
}

export interface HostGatewayArgs extends GatewayArgs {
  /**
   * `shared`: one gateway serves all chats. `chat`: each chat has a separate gateway process, with its own user and
   * data. The container then starts as root with CHOWN, KILL, SETGID and SETUID. Default: `shared`.
   */
  tenancy?: (typeof TENANCIES)[number] | undefined;
  /** Maximum concurrent chat gateways, 1 to 500. Only if `tenancy` is `chat`. Default: 10. */
  maxSandboxes?: number | undefined;
  access?: HostAccessArgs | undefined;
  /**
   * Token of at least 16 characters for signing in to the admin pages; a secret. Cannot be combined with `access`. Default: none.
   * Without this or `access`, the admin pages stay closed.
   */
  adminToken?: pulumi.Input<string> | undefined;
  /**
   * Address of the Docker engine, `unix:///…` or `ssh://…`. Must be that of the component's `docker` provider. Default:
   * the engine of the `docker` command.
   */
  dockerHost?: string | undefined;
  /** Port on the host, 1 to 65535. Default: 8080. */
  port?: number | undefined;
  /** Host IP address on which the port is published. Default: 0.0.0.0. */
  address?: string | undefined;
  /** Absolute path of the host directory for the data. Cannot be combined with `volumeName`. Default: a named volume. */
  dataDirectory?: string | undefined;
  /** Default: derived from the project, stack and component names. */
  containerName?: string | undefined;
  /**
   * Name of the volume for the data. Cannot be combined with `dataDirectory`. Default: the container's name plus
   * `-data`.
   */
  volumeName?: string | undefined;
  /** Required free space in MiB on the engine's disk and the data's disk. Default: 1024. */
  diskMiB?: number | undefined;
  /** Memory limit in MiB, at least 128. Default: 512, or 1024 with `tenancy` `chat`. */
  memoryMiB?: number | undefined;
  /** Maximum number of CPUs: greater than 0, with at most two decimal places. Default: 1. */
  cpus?: number | undefined;
  /** Maximum processes and threads of the container's user, 64 to 32768. Default: 512. */
  maxProcesses?: number | undefined;
  /** Maximum size of each log file in MiB. Default: 10. */
  logMaxMiB?: number | undefined;
  /** Maximum number of log files. Default: 3. */
  logFiles?: number | undefined;
}

export type Target = "serverless" | "host";

export interface ArgsOf {
  serverless: ServerlessGatewayArgs;
  host: HostGatewayArgs;
}

const COMMON = { publicWebhooks: true, logLevel: "info", protectState: false } as const;

const DEFAULTS = {
  serverless: {
    ...COMMON,
    bucketOnDestroy: "keep",
    sleepAfter: "10m",
    migrations: [{ tag: "v1", newSqliteClasses: [SANDBOX_CLASS] }] as Migration[],
    instanceType: "lite",
  },
  host: {
    ...COMMON,
    port: 8080,
    address: "0.0.0.0",
    diskMiB: 1024,
    memoryMiB: 512,
    cpus: 1,
    maxProcesses: 512,
    logMaxMiB: 10,
    logFiles: 3,
  },
} as const;

const CHAT_DEFAULTS = {
  serverless: {
    maxSandboxes: SANDBOXES.default,
    migrations: [...DEFAULTS.serverless.migrations, { tag: "v2", newSqliteClasses: [DIRECTORY_CLASS] }],
  },
  host: { maxSandboxes: SANDBOXES.default, memoryMiB: 1024 },
};

export function defaultsOf(target: Target, { tenancy }: { tenancy?: unknown }): object {
  return { ...DEFAULTS[target], ...(tenancy === "chat" && CHAT_DEFAULTS[target]) };
}

type Given<Value> = { [Key in keyof Value]-?: Exclude<Value[Key], undefined> };

export type WithDefaults<Of extends Target> = Omit<ArgsOf[Of], keyof (typeof DEFAULTS)[Of]> &
  Given<Pick<ArgsOf[Of], keyof (typeof DEFAULTS)[Of] & keyof ArgsOf[Of]>>;

/** Replaces each `undefined` argument with its default. */
export function withDefaults<Of extends Target>(target: Of, args: ArgsOf[Of]): WithDefaults<Of> {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  return { ...defaultsOf(target, given), ...given } as unknown as WithDefaults<Of>;
}
