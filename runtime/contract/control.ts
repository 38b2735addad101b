import type { ConfigSource } from "./backup.ts";
import type { ColdStart } from "./cold-starts.ts";
import type { Platform } from "./delivery.ts";
import type { Duty } from "./duty.ts";
import type { ErrorCode, Reason } from "./errors.ts";
import type { TenantId } from "./tenant.ts";

export { CONTROL_TOKEN_VARIABLE } from "./variables.ts";

/** The supervisor's control API, on its own port; requests need the control token as Bearer token. */
export const CONTROL_ROUTES = {
  /** GET: {@link SandboxStatus} */
  status: "/status",
  /** GET, query `logs=true`, with `after` only the lines after that number: {@link ProcessList} */
  processes: "/processes",
  /** GET: {@link ContainerConfig} */
  config: "/config",
  /** POST, {@link OperationRequest}: {@link OperationReply}; 400 if the operation or its input is not allowed. */
  operations: "/operations",
  /** POST: 202; restarts the gateway, even if it is "crash-looping". */
  restart: "/restart",
  /** POST: 202; starts a crashed gateway now instead of waiting for its backoff. */
  needed: "/needed",
  /** GET: {@link StateRevision} */
  revision: "/revision",
  /**
   * The backups in `backups/` (see backup.ts). GET: their manifests, newest first, as `{generations}`. POST, {@link
   * SnapshotRequest}: creates one and returns its manifest. Below it, `/<id>`: GET the archive with its content-length,
   * DELETE both files (204); POST `/<id>/verify`: {@link RestoreReport} of a trial restore; POST `/<id>/restore`,
   * {@link RestoreRequest}: replaces the state.
   */
  generations: "/generations",
  /**
   * POST, query `config` of {@link RestoreRequest}: the body is an archive, or empty if there is nothing to restore;
   * header `steward-manifest` is its manifest as JSON. Installs the data and starts the gateway: {@link RestoreReport}.
   * With `start=false` the gateway stays stopped for `/config-file`.
   *
   * `chat=<tenant>` merges the archive of a tenant into the state, while the gateway is stopped.
   *
   * These queries leave the gateway as it is: `drill=true` only tests the archive, as `/generations/<id>/verify` does.
   * `show=config` returns the archive's config file as {@link ConfigText}. `take=config` replaces the current config file with it and saves the current one beside it; 404
   * `config_no_good` if the archived config is no longer valid.
   */
  restore: "/restore",
  /**
   * GET: {@link ChatsReport}. Below it, POST `/<tenant>`, {@link SnapshotRequest} with an id: creates a backup with the
   * part of one chat and returns its manifest. It is read and removed as those of `/generations`. PUT `/approvals`,
   * `Approvals` of tenant.ts: replaces the approvals while the gateway is stopped (204).
   */
  chats: "/chats",
  /**
   * GET, query `as` of {@link CONFIG_TEXTS}: {@link ConfigText}. PUT, query `expected` (sha256 of the file it replaces,
   * or `none`): writes the body as the config file, applies it to the gateway and returns the resulting {@link
   * ConfigText}. 422 `config_invalid` as {@link ConfigRefusal} unless `unchecked=true`; 409 `config_changed` if the
   * file has changed since. With `write=false` it is validated but not written; with `secrets=plain` it may hold
   * secrets. Below it, POST `/fresh`, query `expected`: removes the file and restarts the gateway, which writes a new
   * one. The previous file is always saved beside the new one.
   */
  configFile: "/config-file",
} as const;

/** Header of a POST to `/restore`: the archive's manifest as JSON. */
export const MANIFEST_HEADER = "steward-manifest";

/** A revision of the state, which changes whenever a file of the data directory does. */
export interface StateRevision {
  /** Opaque; equal while nothing has changed. */
  revision: string;
}

/** Body of a POST to `/generations`. */
export interface SnapshotRequest {
  /** The backup's id; by default the supervisor assigns the next one. */
  id?: string;
}

/** Chats of a state that served several. */
export interface ChatsReport {
  /** Tenants whose chats have data in it. */
  tenants: TenantId[];
  /** Tenants whose chats have a schedule in it, or in its config. */
  scheduled: TenantId[];
  /** It has files that every chat may read. */
  shared: boolean;
  /** Backups whose content was brought back into it: the last one of each tenant. */
  broughtBack: Readonly<Record<TenantId, string>>;
}

/** Body of a POST to `/generations/<id>/restore`. */
export interface RestoreRequest {
  config: ConfigSource;
}

/**
 * The text to return: the current file, the file as `doctor --fix` would rewrite it, or the file that a start without
 * one would write.
 */
export const CONFIG_TEXTS = ["file", "mended", "fresh"] as const;

/** See {@link CONFIG_TEXTS}. */
export type ConfigTextKind = (typeof CONFIG_TEXTS)[number];

/** Largest config file that can be edited over the control API, in bytes. */
export const CONFIG_LIMIT_BYTES = 256 * 1024;

/** The config file as an editor shows it. */
export interface ConfigText {
  /** `null` if there is no file. Literal secrets in it are redacted. */
  text: string | null;
  /** Dotted paths of its literal secrets, if there are any; a path is empty if the text is not JSON. */
  secrets?: string[] | undefined;
  /** SHA-256 of the file on disk; `null` if there is no file. */
  sha256: string | null;
  /** Problems that a repair leaves. */
  problems?: ToldProblem[];
}

/** Reasons for rejecting a config text, added to the fields of the problem document. */
export interface ConfigRefusal {
  problems: ToldProblem[];
  /** The submitted text, with its literal secrets redacted. */
  text: string;
}

/** The gateway's routes. Health needs no token; deliveries and status need the control token as a Bearer. */
export const GATEWAY_ROUTES = {
  live: "/healthz",
  ready: "/readyz",
  /** POST {@link Delivery}: one event, from an edge that predates {@link GATEWAY_ROUTES.chat}, or a notice. */
  deliveries: "/deliveries",
  /**
   * POST {@link ChatDeliveries}: {@link DeliveryEnd}s, one per line. The response starts once all events are queued.
   */
  chat: "/deliveries/chat",
  /**
   * POST {@link ChatFileRequest}: returns a file's bytes for a page of the web chat; a picture has its content type.
   */
  chatFile: "/chat/file",
  /** GET: {@link GatewayStatus} */
  status: "/status",
  /** GET: {@link UsageReport} */
  usage: "/usage",
  /** POST {@link replayRequestSchema}: returns a redacted {@link ReplayRecord}. Sends nothing. */
  replay: "/replay",
  /** POST {@link ModelTest}: asks a model a short question and returns {@link ModelTested}. */
  testModel: "/models/test",
  /** POST {@link ChannelTest}: asks a platform who the bot is and returns its {@link ChannelHealth}. Sends nothing. */
  testChannel: "/channels/test",
} as const;

/** Request for a file of the web chat, authorised by the ticket that the page received on its socket. */
export interface ChatFileRequest {
  ticket: string;
  item: string;
}

/** State of the gateway, as seen from outside the container. */
export type SandboxState = "stopped" | "starting" | "ready" | "crash-looping";

/** Phase of a start; `crashed`: the gateway exited and is restarted automatically. */
export type StartPhase = "starting" | "restoring" | "crashed";

/** State of the sandbox; "ready" if and only if the gateway's port answers. */
export interface SandboxStatus {
  state: SandboxState;
  /** ISO 8601: the start of this state. */
  since: string;
  /** Number of restarts after a crash of the gateway or the container. */
  restarts: number;
  /** Why it is not ready, if a cause is known. */
  reason?: Reason;
  /** Milliseconds from the container's start to the gateway's first response, once known. */
  coldStartMs?: number;
  /** The start in progress, only while it is "starting"; `at` is ISO 8601. */
  start?: { at: string; phase: StartPhase };
  /** The last 20 completed starts, newest first. */
  coldStarts?: ColdStart[];
  /** Share of the day that the container is awake; only if it can sleep (serverless stack). */
  duty?: Duty;
  /** Counted since the edge started; on the serverless stack, since the Durable Object started. */
  broker?: BrokerCounts;
  /**
   * Why the data directory or the ledger cannot be written; until that is fixed, no messages are accepted or answered.
   */
  volume?: Reason;
  /** Why a "ready" gateway currently does not respond; it is killed if this persists. */
  silent?: Reason;
  /** The version running in the container. */
  version?: string;
  /** The hash of the bundle running in the container, or `source`. */
  bundle?: string;
}

/** Requests to the broker by outcome. */
export interface BrokerOutcomes {
  /** The service responded, with any status. */
  answered: number;
  failed: number;
  refused: number;
}

/** Counts of the gateway's requests to services through the broker, by outcome. */
export interface BrokerCounts extends BrokerOutcomes {
  /** Counts of the gateway's own requests by operation, such as `slack/file`; only operations used so far. */
  operations: Record<string, BrokerOutcomes>;
}

/** One process of the container. */
export interface ProcessInfo {
  name: string;
  pid: number | null;
  state: "running" | "exited" | "backoff" | "crash-looping";
  startedAt: string | null;
  restarts: number;
  exitCode: number | null;
  /** The last lines of its output, oldest first; only if requested. Secrets are redacted. */
  logs?: string[];
  /** With `logs`: the value of `after` that requests the lines after these. */
  nextLog?: number;
}

/** Answer of `/processes`. */
export interface ProcessList {
  processes: ProcessInfo[];
}

/** Response of `/config`: the config file with its secrets redacted. */
export interface ContainerConfig {
  /** `null` if the file is missing or is not JSON. */
  config: unknown;
  /** There is no file. A start in progress will write one. */
  missing?: true;
  path: string;
  valid: boolean;
  problems: ToldProblem[];
}

/** One problem in the config file, as shown to people. */
export interface ToldProblem {
  path: string;
  message: string;
  /** Line of the file's text, from 1. */
  line?: number;
  /** Describes the expected value, if the schema has a description. */
  help?: string;
}

/** Body of `/operations`: an operation of `runtime/operations` by its name. */
export interface OperationRequest {
  operation: string;
  /** Must match the operation's own schema. */
  input: object;
}

/** Response of `/operations`: the operation's result, or why it failed. Secrets are redacted. */
export type OperationReply = (
  | { ok: true; value: unknown }
  | { ok: false; error: { code: ErrorCode; message: string; fix: string } }
) & {
  /** Remarks for people, one per line; empty if there are none. */
  notes: string;
};

/** Result of a process, or of one command of `/debug/cli`. */
export interface CliResult {
  /** 124 after a timeout, as with the `timeout` command of coreutils. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** State of a chat platform. */
export interface ChannelHealth {
  platform: Platform;
  /** `unknown`: the platform has not responded since the gateway started. */
  state: "unknown" | "ready" | "failing" | "disabled";
  /** Why it is not ready. */
  reason?: Reason;
  /** ISO 8601: when the gateway last accepted an event from it. */
  lastEventAt?: string;
  /** ISO 8601: when the platform last responded to Telegram polling or on Discord's gateway connection. */
  polledAt?: string;
  /** The bot, as the platform named it when last asked; `at` is ISO 8601. */
  bot?: BotAccount & { at: string };
}

/** The account that a platform knows by the channel's token. */
export interface BotAccount {
  id?: string | undefined;
  name?: string | undefined;
}

/** Body of a POST to `/channels/test`. */
export interface ChannelTest {
  platform: Platform;
}

/** State of a model. */
export interface ModelHealth {
  /** `<provider>/<model id>` */
  id: string;
  /** `unknown`: not used yet. `cooling`: skipped until `until` after a failure. */
  state: "unknown" | "ready" | "cooling" | "failing";
  reason?: Reason;
  /** ISO 8601 */
  until?: string;
}

/** Body of a POST to `/models/test`. */
export interface ModelTest {
  /** `<provider>/<model id>` of the config */
  model: string;
}

/** Result of a successful model test. */
export interface ModelTested {
  model: string;
  ms: number;
  tokens: { input: number; output: number };
}

/** Tokens and requests of one model on one day (UTC). */
export interface ModelUsage {
  /** YYYY-MM-DD */
  day: string;
  model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

/** Messages of one day (UTC) in all conversations. */
export interface DayMessages {
  /** YYYY-MM-DD */
  day: string;
  received: number;
  answered: number;
}

/** Prices of a model in US dollars per million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** Tokens and requests of one model for one person or place. `id` is empty for all others together. */
export interface SourceUsage extends Omit<ModelUsage, "day"> {
  kind: "person" | "place";
  platform: string;
  id: string;
}

/** Ranges of days up to today (UTC), with their lengths. */
export const USAGE_RANGES = { day: 1, week: 7, month: 30 } as const;

/** See {@link USAGE_RANGES}. */
export type UsageRange = keyof typeof USAGE_RANGES;

/** Response of the gateway's `/usage`: the 30 days up to today (UTC). Days without usage are left out. */
export interface UsageReport {
  /** YYYY-MM-DD, oldest first: every day of the report. */
  days: string[];
  messages: DayMessages[];
  models: ModelUsage[];
  /** Prices of the models above, by `<provider>/<model id>`; models of unknown price are left out. */
  prices: Record<string, ModelPrice>;
  /** Persons and places with the most tokens, the largest first; absent from older gateways. */
  sources?: Record<UsageRange, SourceUsage[]>;
}

/** State of the schedules. */
export interface SchedulesHealth {
  count: number;
  /** ISO 8601: when the next schedule is due. The sandbox wakes for it. */
  nextAt?: string;
  /** Runs of the last seven days that were missed because the gateway was down. */
  missed: number;
  /** Runs of the last seven days that failed to post anything; absent from older gateways. */
  failed?: number;
}

/** Waiting times of messages until the first word of their answer or a notice; since the first start. */
export interface FirstWordReport {
  /** Number of messages that waited at most `le` seconds, cumulative; the last bucket is `+Inf`. */
  buckets: { le: string; count: number }[];
  count: number;
  /** Sum of all waiting times, in seconds. */
  seconds: number;
  /** ISO 8601: when somebody last waited for more than a minute, since the gateway started. */
  lateAt?: string;
}

/** Response of the gateway's `/status`. */
export interface GatewayStatus {
  version: string;
  /** ISO 8601: when it became ready. */
  since: string;
  /** The first model in the order, and the reason of its last failure, if it failed. */
  model: { id: string; reason?: Reason };
  /** In the order in which they are tried. */
  models: ModelHealth[];
  channels: ChannelHealth[];
  counts: {
    conversations: number;
    messages: number;
    /** Messages of the web chat, which no platform delivers; absent from older gateways. */
    webChat?: number;
    answered: number;
    active: number;
  };
  schedules: SchedulesHealth;
  /** Absent from older gateways. */
  firstWords?: FirstWordReport;
  /** `problem`: the changed config file could not be applied, so the gateway still uses the previous one. */
  config: { loadedAt: string; problem?: Reason };
  /** The last seven days with model requests. */
  usage: ModelUsage[];
  /** Number of people and browsers waiting for approval; absent from older gateways. */
  pending?: number;
  /** Number of chats and people that have reached `agent.limits.tokensPerDay` today. */
  limited: number;
  /** Only if the config has retention rules. */
  retention?: RetentionNotice;
  /** Configured MCP servers; absent from older gateways. */
  servers?: ToolServerHealth[];
  /** Parts of messages, tools and answers that were not understood, most recent first; absent from older gateways. */
  findings?: ContractFinding[];
}

/** An MCP server of the config. */
export interface ToolServerHealth {
  name: string;
  /** `unknown`: not used yet. */
  state: "unknown" | "ready" | "failing";
  tools: number;
  /** Tools that cannot be offered to a model, and why. */
  leftOut: { name: string; problem: string }[];
  /** For `failing`. */
  problem?: string;
}

/** The source of something that was not understood. */
export type ContractArea = "message" | "tool" | "stream" | "answer";

/** Something that was not understood. */
export interface ContractFinding {
  area: ContractArea;
  /** Its kind, such as `telegram: message.hologram`. */
  what: string;
  count: number;
  /** ISO 8601. */
  lastAt: string;
}

/** Messages that `sessions.retention` removes. */
export interface RetentionNotice {
  /** ISO 8601: a rule takes effect one day after it was set. */
  beginsAt: string;
  /** Number of messages that match, as of the last check. */
  messages: number;
}

/** The last lines of the gateway's output. */
export interface LogTail {
  /** Oldest first. */
  lines: string[];
  /** The value of `after` that requests the lines after these. */
  next?: number;
}
