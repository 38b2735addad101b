import type { ConfigSource } from "./backup.ts";
import type { ColdStart } from "./cold-starts.ts";
import type { Platform } from "./delivery.ts";
import type { Duty } from "./duty.ts";
import type { ErrorCode, Reason } from "./errors.ts";
import type { TenantId } from "./tenant.ts";

export { CONTROL_TOKEN_VARIABLE } from "./variables.ts";

/**
 * Routes of the supervisor's control API, which has its own port. Requests need the control token as a Bearer token.
 */
export const CONTROL_ROUTES = {
  /** GET: {@link SandboxStatus} */
  status: "/status",
  /** GET: {@link ProcessList}. Query `logs=true` adds log lines; `after=<number>` limits them to later lines. */
  processes: "/processes",
  /** GET: {@link ContainerConfig} */
  config: "/config",
  /**
   * POST {@link OperationRequest}: returns {@link OperationReply}, or 400 if the operation or its input is not
   * allowed.
   */
  operations: "/operations",
  /** POST restarts even a "crash-looping" gateway, and answers 202. */
  restart: "/restart",
  /** POST starts a crashed gateway without waiting for its backoff, and answers 202. */
  needed: "/needed",
  /** GET: {@link StateRevision} */
  revision: "/revision",
  /**
   * Backups in `backups/` of the data directory (see backup.ts):
   *
   * - GET: manifests, newest first, as `{generations}`.
   * - POST {@link SnapshotRequest}: creates a backup and returns its manifest.
   * - GET `/<id>`: the archive, with its content-length. DELETE `/<id>`: removes archive and manifest (204).
   * - POST `/<id>/verify`: {@link RestoreReport} of a trial restore.
   * - POST `/<id>/restore` {@link RestoreRequest}: replaces the state.
   */
  generations: "/generations",
  /**
   * Restores the archive in the POST body: installs the data, starts the gateway and returns {@link RestoreReport}.
   * If the body is empty, only starts the gateway and returns `null`. The header `steward-manifest` holds the
   * archive's manifest as JSON. Query parameters:
   *
   * - `config`: a {@link ConfigSource}.
   * - `start=false`: does not start the gateway; for callers that must first write the config file or merge chats'
   * data.
   * - `chat=<tenant>`: merges a tenant's archive into the state. The gateway must not be running.
   * - `drill=true`: only tests the archive, like `/generations/<id>/verify`.
   * - `show=config`: only returns the archive's config file, as {@link ConfigText}.
   * - `take=config`: replaces only the config file, and keeps the previous file beside it. Answers 404
   * `config_no_good` if the archive's config file is no longer valid.
   */
  restore: "/restore",
  /**
   * - GET: {@link ChatsReport}.
   * - POST `/<tenant>` with a {@link SnapshotRequest} that has an `id`: backs up one chat and returns the manifest.
   * - PUT `/approvals` with `Approvals` (tenant.ts): replaces the approvals and returns 204. Send this request only
   * while the gateway is stopped.
   */
  chats: "/chats",
  /**
   * Config file, at most {@link CONFIG_LIMIT_BYTES}:
   *
   * - GET, query `as` (one of {@link CONFIG_TEXTS}): {@link ConfigText}.
   * - PUT, query `expected` (SHA-256 of the current file, or `none`): writes the body, applies it to the gateway and
   * returns the new {@link ConfigText}. 409 `config_changed` if `expected` does not match; 422 `config_invalid` with
   * {@link ConfigRefusal} if the body is invalid. `unchecked=true` skips validation; `write=false` only validates;
   * `secrets=plain` allows secrets.
   * - POST `/fresh`, query `expected`: removes the file and restarts the gateway, which writes a new file.
   *
   * The previous file is always saved beside the new file.
   */
  configFile: "/config-file",
} as const;

export const MANIFEST_HEADER = "steward-manifest";

/** Revision of the data directory. Changes whenever a state file changes. */
export interface StateRevision {
  revision: string;
}

export interface SnapshotRequest {
  /** Id of the new backup. Default: assigned by the supervisor. */
  id?: string;
}

export interface ChatsReport {
  tenants: TenantId[];
  /** Tenants with a schedule in the database or in the config file. */
  scheduled: TenantId[];
  /** True if the state has files that every chat may read. */
  shared: boolean;
  /** For each tenant, the id of its backup that was most recently merged into the shared state of all chats. */
  broughtBack: Readonly<Record<TenantId, string>>;
}

export interface RestoreRequest {
  config: ConfigSource;
}

/**
 * Config texts that an editor can request: the current file, the file after `doctor --fix`, and the file that a first
 * start would write.
 */
export const CONFIG_TEXTS = ["file", "mended", "fresh"] as const;

export type ConfigTextKind = (typeof CONFIG_TEXTS)[number];

/** Largest config file for the control API. */
export const CONFIG_LIMIT_BYTES = 256 * 1024;

export interface ConfigText {
  /** Config text that the caller requested, with literal secrets redacted; `null` if there is no config file. */
  text: string | null;
  /** Dotted paths of the redacted secrets; a single empty path if the config is invalid JSON or repeats a key. */
  secrets?: string[] | undefined;
  /** SHA-256 of the file on disk; `null` if there is no file. */
  sha256: string | null;
  /** Problems that remain after a repair. */
  problems?: ToldProblem[];
}

/** Extra fields of the problem document if a config text is rejected. */
export interface ConfigRefusal {
  problems: ToldProblem[];
  /** The submitted text; literal secrets are redacted. */
  text: string;
}

/**
 * The gateway's routes. All except the health checks need a Bearer token: the control token or, for status, usage and
 * the model test, the status token.
 */
export const GATEWAY_ROUTES = {
  live: "/healthz",
  ready: "/readyz",
  /**
   * POST {@link Delivery}: a notice, or one event from an older edge that does not know {@link GATEWAY_ROUTES.chat}.
   */
  deliveries: "/deliveries",
  /**
   * POST {@link ChatDeliveries}: returns one {@link DeliveryEnd} per line. The response starts once all events are
   * queued. An event's line follows as soon as its result is known.
   */
  chat: "/deliveries/chat",
  /**
   * POST {@link ChatFileRequest}: returns the bytes of a web-chat file. Pictures have their own content type, all
   * other files a generic one.
   */
  chatFile: "/chat/file",
  /** GET: {@link GatewayStatus} */
  status: "/status",
  /** GET: {@link UsageReport} */
  usage: "/usage",
  /** POST {@link replayRequestSchema}: returns a redacted {@link ReplayRecord}. Sends no message. */
  replay: "/replay",
  /** POST {@link ModelTest}: asks a model a short question and returns {@link ModelTested}. */
  testModel: "/models/test",
  /**
   * POST {@link ChannelTest}: asks a platform who the bot is and returns its {@link ChannelHealth}. Sends no message.
   */
  testChannel: "/channels/test",
} as const;

/** Request for a web-chat file, authorised by the ticket that the page received on its socket. */
export interface ChatFileRequest {
  ticket: string;
  item: string;
}

export type SandboxState = "stopped" | "starting" | "ready" | "crash-looping";

/** Phase of a start; `crashed`: the gateway exited and is restarted automatically. */
export type StartPhase = "starting" | "restoring" | "crashed";

/** State of the sandbox; "ready" if and only if the gateway's port answers. */
export interface SandboxStatus {
  state: SandboxState;
  /** ISO 8601: the start of this state. */
  since: string;
  /** Number of restarts after crashes of the gateway or the container, since the log folder was created. */
  restarts: number;
  reason?: Reason;
  /** Milliseconds from the container's start to the gateway's first response, once known. */
  coldStartMs?: number;
  /** The current start, set only in the state `starting`; `at` is ISO 8601. */
  start?: { at: string; phase: StartPhase };
  /** The last 20 completed starts, newest first. */
  coldStarts?: ColdStart[];
  /** Measured running time of the container; only on the serverless stack. */
  duty?: Duty;
  /** Counts of broker requests since the start of the edge or, on the serverless stack, of the Durable Object. */
  broker?: BrokerCounts;
  /**
   * Reason why the data directory or the ledger is not writable. While `volume` is set, no messages are accepted or
   * answered.
   */
  volume?: Reason;
  /** Reason why a "ready" gateway does not respond. If this persists, the gateway is killed. */
  silent?: Reason;
  version?: string;
  /** Hash of the running bundle; `source` if the code is not bundled. */
  bundle?: string;
}

export interface BrokerOutcomes {
  /** The service responded, with any status. */
  answered: number;
  failed: number;
  refused: number;
}

export interface BrokerCounts extends BrokerOutcomes {
  /** Counts by operation, such as `slack/file`. Operations without requests are omitted. */
  operations: Record<string, BrokerOutcomes>;
}

export interface ProcessInfo {
  name: string;
  pid: number | null;
  state: "running" | "exited" | "backoff" | "crash-looping";
  startedAt: string | null;
  restarts: number;
  exitCode: number | null;
  /** Last lines of the process's output, oldest first; only if requested. Secrets are redacted. */
  logs?: string[];
  /** Number to pass as `after` to request the lines that follow `logs`. */
  nextLog?: number;
}

export interface ProcessList {
  processes: ProcessInfo[];
}

/** Response of `/config`: the config file with its secrets redacted. */
export interface ContainerConfig {
  /** `null` if the file is missing or is not JSON. */
  config: unknown;
  /** Set if the config file does not exist. The gateway's next start writes one. */
  missing?: true;
  path: string;
  valid: boolean;
  problems: ToldProblem[];
}

export interface ToldProblem {
  path: string;
  message: string;
  /** Line of the file's text, from 1. */
  line?: number;
  /** Description of the expected value, or the allowed keys. */
  help?: string;
}

/** Body of `/operations`: the name and input of an operation from `runtime/operations`. */
export interface OperationRequest {
  operation: string;
  /** Input that matches the operation's schema. */
  input: object;
}

/** Response of `/operations`: the operation's result, or why it failed. Secrets are redacted. */
export type OperationReply = (
  | { ok: true; value: unknown }
  | { ok: false; error: { code: ErrorCode; message: string; fix: string } }
) & {
  /** Remarks, one per line; empty if there are none. */
  notes: string;
};

export interface CliResult {
  /** 124 after a timeout, as in coreutils. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface ChannelHealth {
  platform: Platform;
  /** `unknown`: the platform has not responded since the gateway started. */
  state: "unknown" | "ready" | "failing" | "disabled";
  reason?: Reason;
  /** Time when the gateway last accepted an event from the platform, ISO 8601. */
  lastEventAt?: string;
  /**
   * ISO 8601 time of Telegram's last response to polling, or of Discord's last response on its gateway connection.
   */
  polledAt?: string;
  /** The bot's account, as the platform reported it at the time `at` (ISO 8601). */
  bot?: BotAccount & { at: string };
}

export interface BotAccount {
  id?: string | undefined;
  name?: string | undefined;
}

export interface ChannelTest {
  platform: Platform;
}

export interface ModelHealth {
  /** `<provider>/<model id>` */
  id: string;
  /** `unknown`: not used yet. `cooling`: skipped until `until` after a failure. */
  state: "unknown" | "ready" | "cooling" | "failing";
  reason?: Reason;
  /** ISO 8601 */
  until?: string;
}

export interface ModelTest {
  /** `<provider>/<model id>` of the config */
  model: string;
}

export interface ModelTested {
  model: string;
  ms: number;
  tokens: { input: number; output: number };
}

/** Usage of one model on one day (UTC). */
export interface ModelUsage {
  /** YYYY-MM-DD */
  day: string;
  model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

/** Messages of all conversations on one day (UTC). */
export interface DayMessages {
  /** YYYY-MM-DD */
  day: string;
  received: number;
  /** Number of answers. One answer may cover several messages. */
  answered: number;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
}

/**
 * Usage of one model by one person or place. A row with an empty `id` sums the usage by all people or places without
 * their own row.
 */
export interface SourceUsage extends Omit<ModelUsage, "day"> {
  kind: "person" | "place";
  platform: string;
  id: string;
}

/** Ranges of a usage report in days, including today (UTC). */
export const USAGE_RANGES = { day: 1, week: 7, month: 30 } as const;

export type UsageRange = keyof typeof USAGE_RANGES;

/**
 * Response of the gateway's `/usage`: usage of the 30 days up to today (UTC). `messages` and `models` omit days without
 * usage.
 */
export interface UsageReport {
  /** Every day of the report as YYYY-MM-DD, oldest first. */
  days: string[];
  messages: DayMessages[];
  models: ModelUsage[];
  /** Prices of the models in this report, if known. Keys are `<provider>/<model id>`. */
  prices: Record<string, ModelPrice>;
  /**
   * The people who used the most tokens, then the chats that used the most, each group in descending order. Each
   * group ends with the sums for all others. Absent from older gateways' responses.
   */
  sources?: Record<UsageRange, SourceUsage[]>;
}

export interface SchedulesHealth {
  count: number;
  /** Time at which the next schedule is due, in ISO 8601. The sandbox wakes shortly before this time. */
  nextAt?: string;
  /** Scheduled runs missed in the last seven days because the gateway was down. */
  missed: number;
  /** Scheduled runs that failed permanently in the last seven days; absent from older gateways' responses. */
  failed?: number;
}

/** Histogram of the times from a message to the first part of its answer, or to a notice. Counts survive restarts. */
export interface FirstWordReport {
  /** Number of messages that waited at most `le` seconds, cumulative; the last bucket is `+Inf`. */
  buckets: { le: string; count: number }[];
  count: number;
  /** Sum of all waiting times, in seconds. */
  seconds: number;
  /**
   * Time of the last answer or notice that came more than 65 s after its message; ISO 8601. Absent if there was none
   * since the gateway's start.
   */
  lateAt?: string;
}

export interface GatewayStatus {
  version: string;
  /** ISO 8601: when it became ready. */
  since: string;
  /**
   * The model that is tried first. `reason` says why the last request to this model failed; absent if it did not
   * fail.
   */
  model: { id: string; reason?: Reason };
  /** Health of each model, in the order in which the gateway tries them. */
  models: ModelHealth[];
  channels: ChannelHealth[];
  counts: {
    conversations: number;
    messages: number;
    /** Number of messages in the web chat's current sessions; absent from older gateways' responses. */
    webChat?: number;
    answered: number;
    active: number;
  };
  schedules: SchedulesHealth;
  /** Absent from older gateways' responses. */
  firstWords?: FirstWordReport;
  /** `problem`: the changed config file could not be applied, so the gateway still uses the previous one. */
  config: { loadedAt: string; problem?: Reason };
  /** The last seven days with model requests. */
  usage: ModelUsage[];
  /** Number of people and browsers waiting for approval; absent from older gateways' responses. */
  pending?: number;
  /** Number of chats and people that have reached `agent.limits.tokensPerDay` today. */
  limited: number;
  /** Only if the config has retention rules. */
  retention?: RetentionNotice;
  /** Configured MCP servers; absent from older gateways' responses. */
  servers?: ToolServerHealth[];
  /** Data that the gateway did not recognise, most recent first. Absent from older gateways' responses. */
  findings?: ContractFinding[];
}

export interface ToolServerHealth {
  name: string;
  /** `unknown`: not used yet. */
  state: "unknown" | "ready" | "failing";
  tools: number;
  /** Tools that cannot be offered to a model. `problem` is the reason. */
  leftOut: { name: string; problem: string }[];
  /** Set if `state` is `failing`. */
  problem?: string;
}

/** Source of unrecognised data. */
export type ContractArea = "message" | "tool" | "stream" | "answer";

export interface ContractFinding {
  area: ContractArea;
  /** Such as `telegram: message.hologram`. */
  what: string;
  count: number;
  /** ISO 8601. */
  lastAt: string;
}

export interface RetentionNotice {
  /** Time when the retention rules take effect, one day after they were set; ISO 8601. */
  beginsAt: string;
  /** Number of messages that the retention rules would remove, as of the last check. */
  messages: number;
}

export interface LogTail {
  /** Oldest first. */
  lines: string[];
  /** Number to pass as `after` to request the lines that follow `lines`. */
  next?: number;
}
