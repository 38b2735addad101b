import type * as pulumi from "@pulumi/pulumi";
import { type CONFIG_RECOVERIES, SANDBOXES, type TENANCIES } from "../../runtime/contract/environment.ts";
import { DIRECTORY_CLASS, SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import type { InstanceType } from "../serverless/container-api.ts";
import type { Migration } from "../serverless/migration-list.ts";

/** Value of the argument `image` that builds this package's own. */
export const BUILD = "build";

/** Keys of model providers. */
export interface ModelsArgs {
  /** Anthropic's API key; a secret. Required. */
  anthropicApiKey: pulumi.Input<string>;
  /**
   * Key of OpenAI, or of a server that speaks its protocol (see `endpoints.openai`); a secret. Default: no second
   * provider.
   */
  openaiApiKey?: pulumi.Input<string> | undefined;
}

/** A Telegram bot. */
export interface TelegramArgs {
  /** The token from Telegram's BotFather; a secret. Required with `webhookSecret`. */
  botToken?: pulumi.Input<string> | undefined;
  /**
   * Sent by Telegram with every update; a secret of 1 to 256 letters, digits, `_` and `-`. Default: derived from
   * `botToken`. A host polls and does not need it.
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
  /** The app's id, such as `A0123456789`. Give this and `configToken`, or neither: then the manifest is not set. */
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

/** Addresses of other servers than the platforms' own, for tests and rehearsals. Default of each: the platform's. */
export interface EndpointsArgs {
  slack?: string | undefined;
  telegram?: string | undefined;
  discord?: string | undefined;
  anthropic?: string | undefined;
  /** Also for a model provider that speaks OpenAI's protocol; with its version, such as `https://host/v1`. */
  openai?: string | undefined;
  /** The address at which the container reaches the Worker. */
  worker?: string | undefined;
}

/** Arguments that both gateways have. */
export interface GatewayArgs {
  models: ModelsArgs;
  /** Default: no Telegram. */
  telegram?: TelegramArgs | undefined;
  /** Default: no Slack. */
  slack?: SlackArgs | undefined;
  /** Default: no Discord. */
  discord?: DiscordArgs | undefined;
  /** Accept webhooks without an identity; each is verified by its platform's signature. Default: true. */
  publicWebhooks?: boolean | undefined;
  /** Shown on every admin page: 1 to 40 letters, digits, spaces, dots, `_` and `-`. Default: the stack's name. */
  environmentName?: string | undefined;
  /** Default: `info`. */
  logLevel?: "debug" | "info" | "warning" | "error" | undefined;
  /** Policy for a config file that stops the gateway. Default: `manual`. */
  configRecovery?: (typeof CONFIG_RECOVERIES)[number] | undefined;
  /**
   * Number of past events, 0 to 500, that a rollout may replay to the next version. The service redacts them first: no
   * word of a person leaves it. Default: 0.
   */
  replayEvents?: number | undefined;
  /**
   * Name of an image, or `build` to build this package's own. Default: the image that was published with this package,
   * by digest and only if it is signed as the release signs; built if none was published.
   */
  image?: pulumi.Input<string> | undefined;
  /**
   * Public key of cosign, as PEM, that must have signed the image that `image` names. Default: such an image is used as
   * it is.
   */
  imagePublicKey?: pulumi.Input<string> | undefined;
  endpoints?: EndpointsArgs | undefined;
  /**
   * Additional variables by name, each a secret, which the config file refers to as `{"env": "NAME"}`. At most 32; no
   * name may be in `variables` too.
   */
  secrets?: Record<string, pulumi.Input<string>> | undefined;
  /** Additional variables that are not secret, as in `secrets`. */
  variables?: Record<string, pulumi.Input<string>> | undefined;
  /**
   * Destinations of alerts about an outage, as JSON such as `{"slack": "https://hooks.slack.com/…", "after": "5m"}`;
   * a secret. Default: alerts go to the bot's operators only.
   */
  alerts?: pulumi.Input<string> | undefined;
  /** Refuse to delete the bucket or volume, and keep it in a destroy. Default: false. */
  protectState?: boolean | undefined;
}

/** Credentials of Cloudflare's API. */
export interface CloudflareArgs {
  /** An API token; a secret. Default: the one of the `cloudflare` provider in the component's options. */
  apiToken?: pulumi.Input<string> | undefined;
  /** Another API than Cloudflare's own, for rehearsals. Default: the provider's. */
  baseUrl?: pulumi.Input<string> | undefined;
  /** True if the engine's environment has the token as CLOUDFLARE_API_TOKEN: no resource stores it then. Default: false. */
  tokenInEnvironment?: boolean | undefined;
}

/** The identity gateway before a Worker's admin pages. Give both properties, or neither: then the pages stay closed. */
export interface ServerlessAccessArgs {
  /** The team's host name, such as `example.cloudflareaccess.com`. */
  teamDomain?: pulumi.Input<string> | undefined;
  /** E-mail addresses of the people that may sign in; at least one. */
  operators?: pulumi.Input<string>[] | undefined;
}

/** Arguments of `ServerlessGateway`. */
export interface ServerlessGatewayArgs extends GatewayArgs {
  /** The Cloudflare account's id: 32 hexadecimal digits. Required. */
  accountId: pulumi.Input<string>;
  /** Default: the credentials of the `cloudflare` provider in the component's options. */
  cloudflare?: CloudflareArgs | undefined;
  /** The account's name on workers.dev. Give this or `hostname`. */
  subdomain?: pulumi.Input<string> | undefined;
  /** A host name in one of the account's zones, in lower case. Give this or `subdomain`. */
  hostname?: pulumi.Input<string> | undefined;
  slack?: SlackAppArgs | undefined;
  access?: ServerlessAccessArgs | undefined;
  /**
   * The Worker's name: 1 to 54 lower-case letters, digits and inner dashes. Default: derived from project, stack and
   * the component's name.
   */
  workerName?: string | undefined;
  /**
   * The state bucket's name: 3 to 63 lower-case letters, digits and inner dashes. Default: the bucket that the stack
   * has, otherwise derived from project, stack and the component's name.
   */
  bucketName?: pulumi.Input<string> | undefined;
  /** Treatment of a bucket with content when it is deleted. `empty` excludes `protectState`. Default: `keep`. */
  bucketOnDestroy?: "keep" | "empty" | undefined;
  /** Confirms taking over an existing bucket: the id that the preview prints, or the bucket's name without a marker. */
  adoptBucket?: string | undefined;
  /** Time without traffic after which the container sleeps: `never` or a duration such as `10m`. Default: `10m`. */
  sleepAfter?: string | undefined;
  /**
   * `shared`: one sandbox serves all chats. `chat`: each chat has its own, with a container and data of its own. Default:
   * `shared`.
   */
  tenancy?: (typeof TENANCIES)[number] | undefined;
  /** Number of containers, 1 to 500, that run at the same time; only with `tenancy` `chat`. Default: 10. */
  maxSandboxes?: number | undefined;
  /**
   * Chats that an update reaches first, as ids of tenants such as `slack-C0123456789`; only with `tenancy` `chat`.
   * Default: none.
   */
  canaryTenants?: string[] | undefined;
  /**
   * The Worker's migrations: tags `v1`, `v2`, … in order. Default: `v1` with the container's class, and with `tenancy`
   * `chat` also `v2` with the class of the directory of chats.
   */
  migrations?: Migration[] | undefined;
  /** Size of the container. Default: `lite`. */
  instanceType?: InstanceType | undefined;
  /**
   * Hours a day, 0 to 24, that the container is expected to run, with `tenancy` `chat` all containers together; for the
   * cost estimate until usage was measured.
   * With `sleepAfter` `never` only 24 is valid. Default: 8 conversations a day.
   */
  expectedAwakeHours?: number | undefined;
  /** US dollars a month. A higher estimate is refused, a higher measured cost is warned of. Default: no budget. */
  monthlyBudget?: number | undefined;
  /**
   * US dollars a month for each chat, beside the plan and its allowances; only with `tenancy` `chat`. A preview names the
   * chats whose measured cost is higher. Default: no budget.
   */
  monthlyChatBudget?: number | undefined;
  /** Host of the registry that the image is pushed to. Default: Cloudflare's, or none if `origin` is given. */
  registry?: string | undefined;
  /** Loopback origin that the probes ask instead of the Worker's address, for rehearsals. */
  origin?: string | undefined;
}

/** An identity gateway in front of a host. Give both properties, or neither. Excludes `adminToken`. */
export interface HostAccessArgs {
  /** The team's host name, such as `example.cloudflareaccess.com`. */
  teamDomain?: pulumi.Input<string> | undefined;
  /** Audience of its tokens: the Access application's 64 hexadecimal digits. */
  audience?: pulumi.Input<string> | undefined;
}

/** Arguments of `HostGateway`. */
export interface HostGatewayArgs extends GatewayArgs {
  /**
   * `shared`: one gateway serves all chats. `chat`: each chat has its own, as a process with a user and data of its own;
   * the container's main process then needs root with CHOWN, KILL, SETGID and SETUID. Default: `shared`.
   */
  tenancy?: (typeof TENANCIES)[number] | undefined;
  /** Number of chats' gateways, 1 to 500, that run at the same time; only with `tenancy` `chat`. Default: 10. */
  maxSandboxes?: number | undefined;
  access?: HostAccessArgs | undefined;
  /**
   * Token of at least 16 characters for signing in to the admin pages; a secret. Excludes `access`. Default: none; the
   * admin pages stay closed without an identity gateway.
   */
  adminToken?: pulumi.Input<string> | undefined;
  /**
   * Address of the Docker engine, `unix:///…` or `ssh://…`: the one of the `docker` provider in the component's options.
   * Default: the engine that the `docker` command uses.
   */
  dockerHost?: string | undefined;
  /** Port on the host, 1 to 65535. Default: 8080. */
  port?: number | undefined;
  /** IP address of the host that the port is mapped on. Default: 0.0.0.0. */
  address?: string | undefined;
  /** Absolute path of a directory on the host that keeps the data. Excludes `volumeName`. Default: a named volume. */
  dataDirectory?: string | undefined;
  /** Default: derived from project, stack and the component's name. */
  containerName?: string | undefined;
  /** Name of the data's volume. Excludes `dataDirectory`. Default: the container's name and `-data`. */
  volumeName?: string | undefined;
  /** Free space in MiB that the engine's disk and the data's disk must have. Default: 1024. */
  diskMiB?: number | undefined;
  /** Memory limit in MiB, at least 128. Default: 512, with `tenancy` `chat` 1024. */
  memoryMiB?: number | undefined;
  /** Processors that the container may keep busy, above 0 with at most two decimals. Default: 1. */
  cpus?: number | undefined;
  /** Limit of processes and threads, 64 to 32768; the kernel counts them for the container's user. Default: 512. */
  maxProcesses?: number | undefined;
  /** Size in MiB of each log file that the engine keeps. Default: 10. */
  logMaxMiB?: number | undefined;
  /** Number of log files that the engine keeps. Default: 3. */
  logFiles?: number | undefined;
}

/** Targets that a gateway deploys to. */
export type Target = "serverless" | "host";

/** The arguments of each target's component. */
export interface ArgsOf {
  serverless: ServerlessGatewayArgs;
  host: HostGatewayArgs;
}

const COMMON = { publicWebhooks: true, logLevel: "info", protectState: false } as const;

/** Values of arguments that are left out, unless they depend on others. */
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

/** Other values of {@link DEFAULTS} where each chat has its own sandbox. */
const CHAT_DEFAULTS = {
  serverless: {
    maxSandboxes: SANDBOXES.default,
    migrations: [...DEFAULTS.serverless.migrations, { tag: "v2", newSqliteClasses: [DIRECTORY_CLASS] }],
  },
  host: { maxSandboxes: SANDBOXES.default, memoryMiB: 1024 },
};

/** Returns the values of a target's arguments that are left out. */
export function defaultsOf(target: Target, { tenancy }: { tenancy?: unknown }): object {
  return { ...DEFAULTS[target], ...(tenancy === "chat" && CHAT_DEFAULTS[target]) };
}

type Given<Value> = { [Key in keyof Value]-?: Exclude<Value[Key], undefined> };

/** A target's arguments with {@link DEFAULTS}. */
export type WithDefaults<Of extends Target> = Omit<ArgsOf[Of], keyof (typeof DEFAULTS)[Of]> &
  Given<Pick<ArgsOf[Of], keyof (typeof DEFAULTS)[Of] & keyof ArgsOf[Of]>>;

/** Adds the defaults to arguments. An argument that is `undefined` counts as left out. */
export function withDefaults<Of extends Target>(target: Of, args: ArgsOf[Of]): WithDefaults<Of> {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  return { ...defaultsOf(target, given), ...given } as unknown as WithDefaults<Of>;
}
