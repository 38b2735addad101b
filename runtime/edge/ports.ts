import type { BackupCause, ConfigSource, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import type { ConfigText, SandboxStatus } from "../contract/control.ts";
import type { Admitted, Delivery, NameKind, Platform } from "../contract/delivery.ts";
import type { Reason } from "../contract/errors.ts";
import type { TenantId } from "../contract/tenant.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Texts by name that outlive the memory of who keeps them. */
export interface Notes {
  read(name: string): string | undefined;
  write(name: string, value: string): void;
}

/** Outcome of an event's admission. */
export interface Admission {
  /** Nothing was stored: the event is already known, or no answer can depend on it. */
  duplicate: boolean;
  /** The gateway was ready when the event was recorded, or has nothing to do for it. */
  ready: boolean;
}

/** States of a ledger entry. `answered`, `ignored` (the note gives the reason) and `failed` are settled. */
export const ENTRY_STATES = ["waiting", "delivering", "answered", "ignored", "failed"] as const;

/** See {@link ENTRY_STATES}. */
export type EntryState = (typeof ENTRY_STATES)[number];

/** Counts of ledger entries by state. */
export type LedgerCounts = Record<EntryState, number>;

/** One event of the ledger without message contents, safe to display. Times are ISO 8601. */
export interface LedgerEntry {
  /** `<platform>:<the platform's event id>` */
  key: string;
  platform: string;
  conversation: string;
  state: EntryState;
  /** Number of deliveries started. */
  attempts: number;
  receivedAt: string;
  /** Time of the next delivery; only while the entry is not settled. */
  nextAt?: string;
  settledAt?: string;
  /** Result of the last attempt, or how the entry was settled. */
  note?: string;
  /** Id of the group whose message was ignored because the config does not list it. */
  group?: string;
  /** Its author, as a key of the {@link NameDirectory}. Absent if no person wrote it. */
  sender?: string;
  /** The chat, as a key of the {@link NameDirectory}. */
  place?: string;
  /** Absent for an entry that an older version returns. */
  timeline?: Timeline;
}

/** Course of an event. Times are ISO 8601; one that is unknown, or has not come, is absent. */
export interface Timeline {
  received: string;
  /** The event was on disk. */
  recorded?: string;
  /** The container that answers it was ready, if it had to be started. */
  started?: string;
  /** The last attempt began. */
  attempted?: string;
  /** The chat got the first word of the answer, or a notice. */
  firstWord?: string;
  /** The reply was sent. */
  reply?: string;
  settled?: string;
}

/** A delivery of an event that has ended. Times are ISO 8601. */
export interface LedgerAttempt {
  at?: string;
  endedAt: string;
  /** Why it was not the last one, or how it settled the event. */
  note: string;
}

/** An event with its last attempts, the oldest first. */
export interface LedgerDetails {
  entry: LedgerEntry;
  attempts: LedgerAttempt[];
}

/** Orders of the newest 20,000 entries. Those by name or outcome have the newest first within a group. */
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

/** Filter of entries. */
export interface LedgerQuery {
  state?: EntryState | undefined;
  platform?: Platform | undefined;
  limit: number;
  sort?: (typeof LEDGER_SORTS)[number] | undefined;
  /** `next` of the previous page in the same order. */
  before?: number | undefined;
  /** Substring of the event's id or conversation, or of the name of its sender or place; case-insensitive. */
  q?: string | undefined;
  /** Only events that this person sent: a key of the {@link NameDirectory}. */
  sender?: string | undefined;
  /** Only events of this chat: a key of the {@link NameDirectory}. */
  place?: string | undefined;
  /** Milliseconds since the epoch: only entries received at or after this time. */
  since?: number | undefined;
  /** Only entries of this chat. Only a host's ledger holds those of several. */
  tenant?: TenantId | undefined;
}

/** Entries, newest first. `next` is set if there may be more. */
export interface LedgerPage {
  entries: LedgerEntry[];
  next?: number;
}

/** Result of a request to redeliver an entry. */
export type ReplayResult = "replayed" | "unknown" | "not_replayable";

/**
 * The ledger as the edge uses it. When `admit` resolves, the event is on disk and delivery has started: a sleeping
 * sandbox is being woken.
 */
export interface Ledger {
  admit(event: Delivery): Promise<Admission>;
  counts(): Promise<LedgerCounts>;
  list(query: LedgerQuery): Promise<LedgerPage>;
  details(key: string): Promise<LedgerDetails | undefined>;
  /**
   * Returns the beginning of what an event says, from the stored event. The caller records who asked. `undefined` for
   * an event without text, or one that is gone.
   */
  excerpt(key: string): Promise<string | undefined>;
  /**
   * Returns the newest events with their contents, newest first: {@link Delivery} as JSON. At most `limit`, and as many as
   * fit into 1.5 MiB together. `undefined` for one that is larger than 128 KiB.
   */
  recent(limit: number): Promise<(string | undefined)[]>;
  /** Resets a failed or ignored entry to its initial state and starts its delivery. */
  replay(key: string): Promise<ReplayResult>;
}

/** Somebody or some place that events have named. Times are ISO 8601. */
export interface NameEntry {
  /** `<platform>:<id>`; the platform of a browser is `web`. */
  key: string;
  kind: NameKind;
  platform: Platform | "web";
  id: string;
  /** One line of plain text that a stranger chose. Absent until the platform has told it. */
  name?: string;
  /** Hue of its picture, in degrees. */
  hue: number;
  firstSeenAt: string;
  lastSeenAt: string;
  /** Why its last message was admitted, if the gateway has said so. */
  admitted?: Admitted;
}

/** A part of the directory. */
export interface NameQuery {
  kind?: NameKind | undefined;
  platform?: Platform | "web" | undefined;
  /** Only chats that can be written to; a direct chat has its own key, and the name of its person. */
  isChat?: boolean | undefined;
  /** Substring of the name or id, case-insensitive. */
  q?: string | undefined;
  limit: number;
  /** `next` of the previous page. */
  before?: string | undefined;
}

/** Entries, the last seen first. `next` is set if there are more. */
export interface NamePage {
  entries: NameEntry[];
  next?: string;
}

/** Something that has been learned about a person or a place. */
export interface Sighting {
  key: string;
  kind: NameKind;
  name?: string | undefined;
  admitted?: Admitted | undefined;
  /** Key of the person whose direct chat this is. */
  personOf?: string | undefined;
  /** Time of the sighting, in milliseconds since the epoch. Default: now. */
  at?: number | undefined;
}

/** People and places by name, as their events and the platforms tell. Reading wakes nothing. */
export interface NameDirectory {
  /** Returns what is known of these keys. A direct chat is known by its person. */
  names(keys: readonly string[]): Promise<Map<string, NameEntry>>;
  entries(query: NameQuery): Promise<NamePage>;
  /** Records what was learned otherwise, such as a browser's name. */
  noteNames(sightings: readonly Sighting[]): Promise<void>;
}

/** One change made by an operator. */
export interface ActivityEntry {
  /** ISO 8601 */
  at: string;
  /** The operator's name. */
  by: string;
  /** Verb, such as `approve`. */
  action: string;
  /** Object of the verb; never a secret or message text. */
  detail: string;
  /** Change of a text without secrets, see `diffText`; kept for the newest changes only. */
  diff?: string;
}

/** `used`: already accepted earlier. `full`: too many signatures are remembered to accept another one now. */
export type SignatureUse = "accepted" | "used" | "full";

/** Remembers the stack's signatures, so that each is accepted only once. Survives restarts, and wakes nothing. */
export interface Signatures {
  /** Marks a valid signature as used. After `expiresAt` (milliseconds since the epoch) it is rejected anyway. */
  useSignature(mac: string, expiresAt: number): Promise<SignatureUse>;
}

/** Record of what operators changed. Reading and writing wake nothing. */
export interface Activity {
  record(entry: Omit<ActivityEntry, "at">): Promise<void>;
  /** Newest first. `actions`: only entries with one of these. */
  activity(limit: number, actions?: readonly string[]): Promise<ActivityEntry[]>;
}

/** A stored response of the container to a page. */
export interface LastAnswer {
  /** ISO 8601 */
  at: string;
  /** JSON text. */
  text: string;
}

/** Stores the container's last responses to the pages. Reading and writing wake nothing. */
export interface AnswerMemory {
  keepAnswer(question: string, text: string): Promise<void>;
  lastAnswer(question: string): Promise<LastAnswer | undefined>;
}

/** Records a change under an operator's name. Never rejects: a failure is logged, and the change remains in effect. */
export type RecordChange = (by: string, action: string, detail?: string, diff?: string) => Promise<void>;

/** The two HTTP servers inside the container. */
export type SandboxPort = "gateway" | "supervisor";

/** A request to the container as plain data, so that a Worker can pass it to its Durable Object. */
export interface PortRequest {
  method: "GET" | "POST" | "PUT";
  /** Path and query. */
  path: string;
  body?: string;
}

/** The container as the edge uses it. */
export interface Sandbox {
  /** Wakes nothing. */
  status(): Promise<SandboxStatus>;
  /**
   * Starts a stopped container in the background. Operators can always do this; visitors up to three times an hour. For
   * operators only, a crashed gateway is restarted at once: a stranger must not bypass its backoff.
   *
   * @returns true if the request was granted.
   */
  wake(by: "visitor" | "operator"): Promise<boolean>;
  /**
   * Restarts the gateway; starts a stopped container. If the cached config was deleted or replaced in the bucket, that
   * takes effect.
   *
   * @throws StewardError why it failed.
   */
  restart(): Promise<void>;
  /** Sends a request to one of the container's servers, with the control token; starts a stopped container. */
  request(port: SandboxPort, request: PortRequest): Promise<Response>;
  /**
   * Sends a request to the gateway if it is ready, or to the supervisor if it runs. It starts nothing and does not
   * count as activity. `undefined` if there was no response.
   */
  peek(request: PortRequest, port?: SandboxPort): Promise<Response | undefined>;
}

/** State of the backups. Times are ISO 8601. */
export interface BackupsStatus {
  /** Time of the newest backup. */
  lastAt?: string;
  /** Why the last backup or restore failed; absent after a success. */
  problem?: Reason;
  /** A start found an invalid config and used the one of this backup instead. Cleared when the file changes. */
  recovered?: RecoveredConfig;
}

/** A config that was restored from a backup automatically. */
export interface RecoveredConfig {
  id: string;
  /** ISO 8601 */
  at: string;
}

/** Backups as the edge uses them; see contract/backup.ts. Methods reject with StewardError. */
export interface Backups {
  /** Wakes nothing. */
  status(): Promise<BackupsStatus>;
  /** Newest first. Wakes nothing on the serverless stack, where the backups are in the bucket. */
  list(): Promise<GenerationManifest[]>;
  /** Creates a backup; starts a stopped container. `force`: even if it contains far less than the previous one. */
  create(options?: { force?: boolean; cause?: BackupCause }): Promise<GenerationManifest>;
  /** Unpacks a backup into a scratch directory and verifies it. */
  verify(id: string): Promise<RestoreReport>;
  /** Backs up the current state, replaces it with the given backup and restarts the gateway. */
  restore(id: string, config: ConfigSource): Promise<RestoreReport>;
  /** The config that the next start of a stopped container uses, as JSON text, if known. Wakes nothing. */
  cachedConfig(): Promise<string | undefined>;
  /** The archive of a backup, read while it is consumed. Wakes nothing on the serverless stack. */
  download(id: string): Promise<ReadableStream<Uint8Array>>;
  /** The config file of a backup. A secret gets the same mark as in the current file, whose digest is included. */
  configOf(id: string): Promise<ConfigText>;
}
