import type { ConfigSource } from "./backup.ts";
import type { ColdStart } from "./cold-starts.ts";
import type { Platform } from "./delivery.ts";
import type { Duty } from "./duty.ts";
import type { ErrorCode, Reason } from "./errors.ts";

export { CONTROL_TOKEN_VARIABLE } from "./variables.ts";

/** The supervisor's control API, on its port, with the control token as a Bearer. */
export const CONTROL_ROUTES = {
  /** GET: {@link SandboxStatus} */
  status: "/status",
  /** GET, query `logs=true`, with `after` only the lines since then: {@link ProcessList} */
  processes: "/processes",
  /** GET: {@link ContainerConfig} */
  config: "/config",
  /** POST, {@link OperationRequest}: {@link OperationReply}; 400 for an operation or an input that is not allowed. */
  operations: "/operations",
  /** POST: 202; restarts the gateway, also out of "crash-looping". */
  restart: "/restart",
  /** POST: 202; tries a crashed gateway at once in place of at the end of its backoff. */
  needed: "/needed",
  /** GET: {@link StateRevision} */
  revision: "/revision",
  /**
   * The generations of backup.ts that lie in `backups/`. GET: their manifests, newest first, as `{generations}`.
   * POST, {@link SnapshotRequest}: makes one, answers its manifest.
   * Below it `/<id>`: GET the archive with its content-length, DELETE both files (204), and
   * POST `/<id>/verify`: {@link RestoreReport} of a drill; POST `/<id>/restore`, {@link RestoreRequest}: the real thing.
   */
  generations: "/generations",
  /**
   * POST, query `config` of {@link RestoreRequest}: the body is an archive, or empty where there is nothing to
   * restore; header `steward-manifest` its manifest as JSON. Puts the data in place and starts the gateway:
   * {@link RestoreReport}. With `start=false` it is left stopped for `/config-file`. With `drill=true` the archive
   * is only tried, as by `/generations/<id>/verify`; with `show=config` its config file is answered:
   * {@link ConfigText}, a secret with the mark that it has in the file of the data directory. With
   * `take=config` that takes the file's place, which is kept beside it; 404 `config_no_good` where it is not valid
   * any more. The gateway is left as it is.
   */
  restore: "/restore",
  /**
   * GET, query `as` of {@link CONFIG_TEXTS}: {@link ConfigText}.
   * PUT, query `expected` (sha256 of the file that it replaces, or `none`): the body becomes the config file and
   * the gateway takes it over; {@link ConfigText} of what is there then. 422 `config_invalid` as
   * {@link ConfigRefusal} unless `unchecked=true`, 409 `config_changed` where the file is another by now. With
   * `write=false` it is checked and nothing is written.
   * Below it POST `/fresh`, query `expected`: removes the file and restarts the gateway, which writes a fresh one.
   * The file before is kept beside the new one in any case.
   */
  configFile: "/config-file",
} as const;

/** Of a POST to `/restore`: the archive's manifest as JSON. */
export const MANIFEST_HEADER = "steward-manifest";

/** A number for the state's content: it moves when a file of the data directory does. */
export interface StateRevision {
  /** Opaque; equal while nothing has changed. */
  revision: string;
}

/** Body of a POST to `/generations`. */
export interface SnapshotRequest {
  /** The copy's name; without one the supervisor takes the next of its own. */
  id?: string;
}

/** Body of a POST to `/generations/<id>/restore`. */
export interface RestoreRequest {
  config: ConfigSource;
}

/**
 * Text that is wanted: the file's own, what `doctor --fix` makes of it, or what a start without a file
 * would write.
 */
export const CONFIG_TEXTS = ["file", "mended", "fresh"] as const;

/** See {@link CONFIG_TEXTS}. */
export type ConfigTextKind = (typeof CONFIG_TEXTS)[number];

/** Bytes of the largest config file that is edited over the control API. */
export const CONFIG_LIMIT_BYTES = 256 * 1024;

/** The config file as it is edited. */
export interface ConfigText {
  /** `null` where there is no file. A literal secret in it is replaced by a mark; a text that still holds the mark keeps the secret. */
  text: string | null;
  /** Of the file as it lies on disk; `null` where there is none. */
  sha256: string | null;
}

/** Why a text does not become the config file, beside the problem document's own fields. */
export interface ConfigRefusal {
  problems: ToldProblem[];
  /** The text that was sent, with a mark in place of each secret that was written into it. */
  text: string;
}

/** The gateway's routes. Health needs no token; deliveries and status need the control token as a Bearer. */
export const GATEWAY_ROUTES = {
  live: "/healthz",
  ready: "/readyz",
  /** POST {@link Delivery}: one event, from an edge of before {@link GATEWAY_ROUTES.chat}, or a notice. */
  deliveries: "/deliveries",
  /** POST {@link ChatDeliveries}: {@link DeliveryEnd}s, one a line. The answer begins once all have their places. */
  chat: "/deliveries/chat",
  /** POST {@link ChatFileRequest}: a file for a page of the web chat, as bytes; a picture with its type. */
  chatFile: "/chat/file",
  /** GET: {@link GatewayStatus} */
  status: "/status",
  /** GET: {@link UsageReport} */
  usage: "/usage",
  /** POST {@link ModelTest}: asks a model a short question, {@link ModelTested} */
  testModel: "/models/test",
} as const;

/** Request for a file of the web chat, by the ticket that the page was given on its socket. */
export interface ChatFileRequest {
  ticket: string;
  item: string;
}

/** State of the gateway, as seen from outside the container. */
export type SandboxState = "stopped" | "starting" | "ready" | "crash-looping";

/** Phase of a start; `crashed`: the gateway has ended, and is restarted automatically. */
export type StartPhase = "starting" | "restoring" | "crashed";

/** State of the sandbox; "ready" exactly while the gateway's port answers. */
export interface SandboxStatus {
  state: SandboxState;
  /** ISO 8601: since when. */
  since: string;
  /** Times that it was started again after a crash of its own or of the container. */
  restarts: number;
  /** Why it is not ready, where a cause is known. */
  reason?: Reason;
  /** Milliseconds from the container's start to the gateway's first answer, once known. */
  coldStartMs?: number;
  /** The start under way, only while it is "starting"; `at` as ISO 8601. */
  start?: { at: string; phase: StartPhase };
  /** The last 20 starts that have ended, newest first. */
  coldStarts?: ColdStart[];
  /** Share of the day for which the container is awake; only where it sleeps, on the serverless stack. */
  duty?: Duty;
  /** Since the edge's start; on the serverless stack since that of the Durable Object. */
  broker?: BrokerCounts;
  /** Why the data directory or the ledger cannot be written; nothing is taken or answered meanwhile. */
  volume?: Reason;
  /** Why a gateway that is "ready" does not answer at the moment; it is ended if it stays so. */
  silent?: Reason;
  /** The version that runs in the container. */
  version?: string;
  /** The hash of the bundle that runs in the container, or `source`. */
  bundle?: string;
}

/** Requests to the broker by outcome. */
export interface BrokerOutcomes {
  /** The service answered, whatever it said. */
  answered: number;
  failed: number;
  refused: number;
}

/** Requests of the gateway to its services, as the broker has dealt with them. */
export interface BrokerCounts extends BrokerOutcomes {
  /** Those of the gateway itself by operation, such as `slack/file`; only the operations that it has asked for. */
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
  /** The tail of its output, oldest line first; only when asked for. Secrets are redacted. */
  logs?: string[];
  /** With `logs`: what asks for the lines after them, as `after`. */
  nextLog?: number;
}

/** Answer of `/processes`. */
export interface ProcessList {
  processes: ProcessInfo[];
}

/** Answer of `/config`: the config file with its secrets redacted, `null` where it is not JSON. */
export interface ContainerConfig {
  /** `null` where the file is no JSON, or `missing`. */
  config: unknown;
  /** There is no file. A start that is under way writes one. */
  missing?: true;
  path: string;
  valid: boolean;
  problems: ToldProblem[];
}

/** One thing wrong with the config file, as people read it. */
export interface ToldProblem {
  path: string;
  message: string;
  /** Help on what belongs there, where the schema tells. */
  help?: string;
}

/** Body of `/operations`: an operation of `runtime/operations` by its name. */
export interface OperationRequest {
  operation: string;
  /** As the operation's own schema has it. */
  input: object;
}

/** Answer of `/operations`: what the operation returned, or why it failed. Secrets are redacted. */
export type OperationReply = (
  | { ok: true; value: unknown }
  | { ok: false; error: { code: ErrorCode; message: string; fix: string } }
) & {
  /** Lines that people should know beside it; empty if there are none. */
  notes: string;
};

/** Result of a process, and of a line of `/debug/cli`. */
export interface CliResult {
  /** 124 where the time was over, as `timeout` of the coreutils has it. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** State of a chat platform. */
export interface ChannelHealth {
  platform: Platform;
  /** `unknown`: the platform has not answered yet since the gateway's start. */
  state: "unknown" | "ready" | "failing" | "disabled";
  /** Why it is not ready. */
  reason?: Reason;
  /** ISO 8601: when an event of it was last taken up. */
  lastEventAt?: string;
  /** Telegram's polling, Discord's gateway connection: when the platform last answered, ISO 8601. */
  polledAt?: string;
}

/** State of a model. */
export interface ModelHealth {
  /** `<provider>/<model id>` */
  id: string;
  /** `unknown`: not asked yet. `cooling`: left alone until `until` after it failed. */
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

/** Outcome of a test that a model answered. */
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

/** Prices of a model's tokens, in US dollars for a million of them. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** Answer of the gateway's `/usage`: 30 days up to today (UTC). A day without anything is left out. */
export interface UsageReport {
  /** YYYY-MM-DD, oldest first: every day of the report. */
  days: string[];
  messages: DayMessages[];
  models: ModelUsage[];
  /** Prices of the models above, by `<provider>/<model id>`; one whose price is not known is left out. */
  prices: Record<string, ModelPrice>;
}

/** State of the schedules. */
export interface SchedulesHealth {
  count: number;
  /** ISO 8601: when the next one is due. The sandbox wakes for it. */
  nextAt?: string;
  /** Runs that were due while the gateway was down and were not made up for, last seven days. */
  missed: number;
  /** Runs that ended without being said, last seven days; absent from a gateway of an older version. */
  failed?: number;
}

/** Waits of messages for the first word of their answer, or for a notice in its place; since the first start. */
export interface FirstWordReport {
  /** Messages up to so many seconds, each class with those before it; the last is `+Inf`. */
  buckets: { le: string; count: number }[];
  count: number;
  /** All waits together. */
  seconds: number;
  /** ISO 8601: when somebody last had waited for more than a minute, since the gateway's start. */
  lateAt?: string;
}

/** Answer of the gateway's `/status`. */
export interface GatewayStatus {
  version: string;
  /** ISO 8601: when it became ready. */
  since: string;
  /** The model that is asked first, and why it failed last, where it did. */
  model: { id: string; reason?: Reason };
  /** In the order in which they are asked. */
  models: ModelHealth[];
  channels: ChannelHealth[];
  counts: {
    conversations: number;
    messages: number;
    /** Messages of the web chat, which no platform delivers; absent from a gateway of an older version. */
    webChat?: number;
    answered: number;
    active: number;
  };
  schedules: SchedulesHealth;
  /** Absent from a gateway of an older version. */
  firstWords?: FirstWordReport;
  /** A changed config file that could not be taken over: the gateway runs on with the one before. */
  config: { loadedAt: string; problem?: Reason };
  /** The last seven days on which a model was asked. */
  usage: ModelUsage[];
  /** People and browsers that wait for approval; absent from a gateway of an older version. */
  pending?: number;
  /** Chats and people that have reached `agent.limits.tokensPerDay` today. */
  limited: number;
  /** Only where the config has rules. */
  retention?: RetentionNotice;
  /** Tool servers of the config; absent from a gateway of an older version. */
  servers?: ToolServerHealth[];
  /** Parts of messages, tools and answers that were not understood, the last seen first; absent from a gateway of an older version. */
  findings?: ContractFinding[];
}

/** An MCP server of the config. */
export interface ToolServerHealth {
  name: string;
  /** `unknown`: no question has needed it yet. */
  state: "unknown" | "ready" | "failing";
  tools: number;
  /** Tools that cannot be offered to a model, and why. */
  leftOut: { name: string; problem: string }[];
  /** For `failing`. */
  problem?: string;
}

/** Source of something that was not understood. */
export type ContractArea = "message" | "tool" | "stream" | "answer";

/** Something that was not understood. */
export interface ContractFinding {
  area: ContractArea;
  /** For example `telegram: message.hologram`. */
  what: string;
  count: number;
  /** ISO 8601. */
  lastAt: string;
}

/** Messages that `sessions.retention` removes. */
export interface RetentionNotice {
  /** ISO 8601: a rule acts a day after it was set. */
  beginsAt: string;
  /** Messages that it names, as of the last look. */
  messages: number;
}

/** The end of the gateway's output. */
export interface LogTail {
  /** Oldest first. */
  lines: string[];
  /** Number that asks for the lines after these, as `after`. */
  next?: number;
}
