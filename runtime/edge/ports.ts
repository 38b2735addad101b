import type { BackupCause, ConfigSource, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import type { ConfigText, SandboxStatus } from "../contract/control.ts";
import type { Admitted, Delivery, NameKind, Platform } from "../contract/delivery.ts";
import type { Reason } from "../contract/errors.ts";
import type { TenantId } from "../contract/tenant.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Named texts that survive a restart. */
export interface Notes {
  read(name: string): string | undefined;
  write(name: string, value: string): void;
}

export interface Admission {
  /**
   * True if the event was not stored: the ledger already contains it, or it is an edit or deletion that affects no
   * answer.
   */
  duplicate: boolean;
  /** False if the event must wait until the gateway is ready. */
  ready: boolean;
}

/** States of a ledger entry. `answered`, `ignored` and `failed` are final. */
export const ENTRY_STATES = ["waiting", "delivering", "answered", "ignored", "failed"] as const;

export type EntryState = (typeof ENTRY_STATES)[number];

export type LedgerCounts = Record<EntryState, number>;

/** A ledger event without its contents. Times are ISO 8601. */
export interface LedgerEntry {
  /** `<platform>:<event id>` */
  key: string;
  platform: string;
  conversation: string;
  state: EntryState;
  attempts: number;
  receivedAt: string;
  /** Time of the next delivery attempt; absent once the event is settled. */
  nextAt?: string;
  settledAt?: string;
  /** Result of the last delivery attempt, or reason for the final `state`. */
  note?: string;
  /** Id of the event's group. Set only if the event was ignored because the config does not list the group. */
  group?: string;
  /** Sender's key in the {@link NameDirectory}; absent if no person wrote the event. */
  sender?: string;
  /** Key of the {@link NameDirectory}. */
  place?: string;
  /** Absent in entries from an older version. */
  timeline?: Timeline;
}

/**
 * Times at which an event reached each step, in ISO 8601. A time is absent if it is unknown or the event has not
 * reached that step yet.
 */
export interface Timeline {
  received: string;
  recorded?: string;
  /** Time at which the container was ready, if it had to start. */
  started?: string;
  /** Start of the last attempt. */
  attempted?: string;
  /** Time at which the answer, or a notice, began to appear in the chat. */
  firstWord?: string;
  reply?: string;
  settled?: string;
}

/** A finished delivery attempt. Times are ISO 8601. */
export interface LedgerAttempt {
  at?: string;
  endedAt: string;
  /** Reason for the retry, or for the final state. */
  note: string;
}

/** An event with its last attempts, oldest first. */
export interface LedgerDetails {
  entry: LedgerEntry;
  attempts: LedgerAttempt[];
}

/**
 * Sort orders of a query. A sorted query covers only the newest 20,000 entries. Entries with equal values are ordered
 * newest first.
 */
export const LEDGER_SORTS = [
  "received",
  "-received",
  "person",
  "-person",
  "place",
  "-place",
  "outcome",
  "-outcome",
] as const;

export interface LedgerQuery {
  state?: EntryState | undefined;
  platform?: Platform | undefined;
  limit: number;
  sort?: (typeof LEDGER_SORTS)[number] | undefined;
  /** `next` of the previous page. Use the same `sort`. */
  before?: number | undefined;
  /** Case-insensitive substring of the event's id or conversation, or of the sender's or chat's name. */
  q?: string | undefined;
  /** Key of the {@link NameDirectory}. */
  sender?: string | undefined;
  /** Key of the {@link NameDirectory}. */
  place?: string | undefined;
  /** Earliest receipt, in milliseconds since the epoch. */
  since?: number | undefined;
  /** Restricts the result to this chat, if the host stores all chats in one ledger. */
  tenant?: TenantId | undefined;
}

/** Entries, newest first unless the query has a `sort`. `next` is set if there may be more. */
export interface LedgerPage {
  entries: LedgerEntry[];
  next?: number;
}

export type ReplayResult = "replayed" | "unknown" | "not_replayable";

/** Ledger of events. When `admit` resolves, the event is stored and its delivery has started. */
export interface Ledger {
  admit(event: Delivery): Promise<Admission>;
  counts(): Promise<LedgerCounts>;
  list(query: LedgerQuery): Promise<LedgerPage>;
  details(key: string): Promise<LedgerDetails | undefined>;
  /** Returns the start of the stored event's text, if any. The caller must record which operator reads it. */
  excerpt(key: string): Promise<string | undefined>;
  /**
   * Returns the newest events as {@link Delivery} JSON, newest first, up to 1.5 MiB in total. An event above 128 KiB
   * is `undefined`.
   */
  recent(limit: number): Promise<(string | undefined)[]>;
  /** Resets a failed or ignored entry and starts its delivery. */
  replay(key: string): Promise<ReplayResult>;
}

/** Name of a person, chat or browser. Times are ISO 8601. */
export interface NameEntry {
  /** `<platform>:<id>`; a browser's platform is `web`. */
  key: string;
  kind: NameKind;
  platform: Platform | "web";
  id: string;
  /**
   * Name of the person, chat or browser, as one line of plain text. Untrusted, because anyone can choose their own
   * name. Absent until known.
   */
  name?: string;
  /** Hue of the avatar, in degrees. */
  hue: number;
  firstSeenAt: string;
  lastSeenAt: string;
  /** Reason for admitting the last message, if known. */
  admitted?: Admitted;
}

export interface NameQuery {
  kind?: NameKind | undefined;
  platform?: Platform | "web" | undefined;
  /**
   * True to return only chats that can receive messages. A direct chat on Slack or Discord then has the name of the
   * person with whom the bot talks.
   */
  isChat?: boolean | undefined;
  /** Case-insensitive substring of the name or id. */
  q?: string | undefined;
  limit: number;
  before?: string | undefined;
}

/** Entries, most recently seen first. `next` is set if there are more. */
export interface NamePage {
  entries: NameEntry[];
  next?: string;
}

/** A fact learned about a person, chat or browser. */
export interface Sighting {
  key: string;
  kind: NameKind;
  name?: string | undefined;
  admitted?: Admitted | undefined;
  /** For a direct chat whose key differs from the person's, the person's key. */
  personOf?: string | undefined;
  /** Milliseconds since the epoch. Default: now. */
  at?: number | undefined;
}

/** Names of people, chats and browsers, from events and the platforms. */
export interface NameDirectory {
  /** A direct chat resolves to its person. */
  names(keys: readonly string[]): Promise<Map<string, NameEntry>>;
  entries(query: NameQuery): Promise<NamePage>;
  noteNames(sightings: readonly Sighting[]): Promise<void>;
}

export interface ActivityEntry {
  /** ISO 8601 */
  at: string;
  by: string;
  /** Verb, such as `approve`. */
  action: string;
  /** Subject of the action, such as a backup's id; never a secret or message text. */
  detail: string;
  /** Diff without secrets, see `diffText`; stored for the newest changes only. */
  diff?: string;
}

/** `used`: the signature was accepted before. `full`: too many signatures are stored. */
export type SignatureUse = "accepted" | "used" | "full";

/** Persistent store of used signatures, so that each is accepted only once. */
export interface Signatures {
  /** Marks a valid signature as used. `expiresAt` is in milliseconds since the epoch. */
  useSignature(mac: string, expiresAt: number): Promise<SignatureUse>;
}

export interface Activity {
  record(entry: Omit<ActivityEntry, "at">): Promise<void>;
  activity(limit: number, actions?: readonly string[]): Promise<ActivityEntry[]>;
}

export interface LastAnswer {
  /** ISO 8601 */
  at: string;
  text: string;
}

/** Store of the container's last responses, so that pages can show them without asking the container. */
export interface AnswerMemory {
  keepAnswer(question: string, text: string): Promise<void>;
  lastAnswer(question: string): Promise<LastAnswer | undefined>;
}

/** Records an operator's change. Never rejects: a failure is logged, and the change stays in effect. */
export type RecordChange = (by: string, action: string, detail?: string, diff?: string) => Promise<void>;

/** The two HTTP servers in the container. */
export type SandboxPort = "gateway" | "supervisor";

/** A request to the container as plain data, which a Worker can pass to its Durable Object. */
export interface PortRequest {
  method: "GET" | "POST" | "PUT";
  /** Path and query. */
  path: string;
  body?: string;
}

export interface Sandbox {
  /** Wakes nothing. */
  status(): Promise<SandboxStatus>;
  /**
   * Starts a stopped container in the background. Visitors can do this at most three times an hour in total. Only
   * operators can restart a crashed gateway, because visitors must not bypass its backoff.
   *
   * @returns true if the request was granted.
   */
  wake(by: "visitor" | "operator"): Promise<boolean>;
  /**
   * Restarts the gateway, or starts a stopped container. If the config cached in the bucket was replaced, applies the
   * new config.
   *
   * @throws StewardError with the reason
   */
  restart(): Promise<void>;
  /** Sends a request with the control token. Starts a stopped container. */
  request(port: SandboxPort, request: PortRequest): Promise<Response>;
  /**
   * Sends a request to a ready gateway or a running supervisor; otherwise resolves to `undefined`. Starts nothing and
   * does not count as activity.
   */
  peek(request: PortRequest, port?: SandboxPort): Promise<Response | undefined>;
}

/** Status of the backups. Times are ISO 8601. */
export interface BackupsStatus {
  lastAt?: string;
  /** Reason why the last backup or restore failed; absent after a success. */
  problem?: Reason;
  /** Set if a start replaced an invalid config with the config of a backup. Cleared when the config file changes. */
  recovered?: RecoveredConfig;
}

/** A config restored automatically from a backup. */
export interface RecoveredConfig {
  id: string;
  /** ISO 8601 */
  at: string;
}

/** Backups; see contract/backup.ts. Methods reject with StewardError. */
export interface Backups {
  status(): Promise<BackupsStatus>;
  /** Returns all manifests, newest first. The serverless stack lists the bucket and wakes no container. */
  list(): Promise<GenerationManifest[]>;
  /**
   * Creates a backup, starting a stopped container first. `force` accepts a backup that contains far less than the
   * previous one.
   */
  create(options?: { force?: boolean; cause?: BackupCause }): Promise<GenerationManifest>;
  /** Unpacks and verifies a backup in a scratch directory. */
  verify(id: string): Promise<RestoreReport>;
  /** Backs up the current state, replaces it with the given backup and restarts the gateway. */
  restore(id: string, config: ConfigSource): Promise<RestoreReport>;
  /**
   * Returns the config with which a stopped container will start, as JSON; `undefined` if it is unknown. Wakes no
   * container.
   */
  cachedConfig(): Promise<string | undefined>;
  /** Wakes nothing on the serverless stack. */
  download(id: string): Promise<ReadableStream<Uint8Array>>;
  /**
   * Returns a backup's config with its secrets masked. `sha256` is the hash of the current config file, not of the
   * backup's.
   */
  configOf(id: string): Promise<ConfigText>;
}
