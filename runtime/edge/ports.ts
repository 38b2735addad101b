import type { BackupCause, ConfigSource, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import type { ConfigText, SandboxStatus } from "../contract/control.ts";
import type { Delivery, Platform } from "../contract/delivery.ts";
import type { ErrorCode, Reason } from "../contract/errors.ts";

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Outcome of an event's admission. */
export interface Admission {
  /** Nothing was stored: the platform's event id is known, or no answer can depend on the event. */
  duplicate: boolean;
  /** The gateway was ready when the event was recorded, or has nothing to do for it. */
  ready: boolean;
}

/** The life of a ledger entry. `answered`, `ignored` (with the reason as its note) and `failed` are settled. */
export const ENTRY_STATES = ["waiting", "delivering", "answered", "ignored", "failed"] as const;

/** See {@link ENTRY_STATES}. */
export type EntryState = (typeof ENTRY_STATES)[number];

/** Counts of ledger entries by state. */
export type LedgerCounts = Record<EntryState, number>;

/** One event of the ledger as it may be shown: never what somebody wrote. Times are ISO 8601. */
export interface LedgerEntry {
  /** `<platform>:<the platform's event id>` */
  key: string;
  platform: string;
  conversation: string;
  state: EntryState;
  /** Deliveries begun. */
  attempts: number;
  receivedAt: string;
  /** Time at which it is delivered next; only while it is not settled. */
  nextAt?: string;
  settledAt?: string;
  /** End of the last attempt, or the way it was settled. */
  note?: string;
  /** The group whose message was ignored because no list names it, in the platform's own id. */
  group?: string;
}

/** Filter of entries. */
export interface LedgerQuery {
  state?: EntryState | undefined;
  platform?: Platform | undefined;
  limit: number;
  /** `next` of the page before. */
  before?: number | undefined;
  /** Part of the event's id or its conversation, in upper or lower case. */
  q?: string | undefined;
  /** Milliseconds since the epoch: those received from then on. */
  since?: number | undefined;
}

/** Entries, newest first. `next` is there where more may follow. */
export interface LedgerPage {
  entries: LedgerEntry[];
  next?: number;
}

/** Outcome of the wish to deliver an entry once more. */
export type ReplayResult = "replayed" | "unknown" | "not_replayable";

/**
 * Ledger as the edge sees it. When `admit` returns, the event is on disk and its delivery is
 * under way: a sleeping sandbox is being started.
 */
export interface Ledger {
  admit(event: Delivery): Promise<Admission>;
  counts(): Promise<LedgerCounts>;
  list(query: LedgerQuery): Promise<LedgerPage>;
  /** Puts an entry that failed or was ignored back as if it had just come, and starts its delivery. */
  replay(key: string): Promise<ReplayResult>;
}

/** One change that an operator made. */
export interface ActivityEntry {
  /** ISO 8601 */
  at: string;
  /** The operator's name. */
  by: string;
  /** Verb, such as `approve`. */
  action: string;
  /** Object of the verb; never a secret or a message. */
  detail: string;
}

/** `used`: accepted before. `full`: too many are remembered to accept another one now. */
export type SignatureUse = "accepted" | "used" | "full";

/** Memory of the stack's signatures, by which each is accepted once. It lasts across restarts, and wakes nothing. */
export interface Signatures {
  /** Uses a valid signature up. `expiresAt`: the time, in milliseconds, after which it is refused anyway. */
  useSignature(mac: string, expiresAt: number): Promise<SignatureUse>;
}

/** Record of what operators changed. Reading and writing wake nothing. */
export interface Activity {
  record(entry: Omit<ActivityEntry, "at">): Promise<void>;
  /** Newest first. */
  activity(limit: number): Promise<ActivityEntry[]>;
}

/** The container's answer to a page, as it was kept. */
export interface LastAnswer {
  /** ISO 8601 */
  at: string;
  /** JSON text. */
  text: string;
}

/** Memory of what the container last told the pages. Reading and writing wake nothing. */
export interface AnswerMemory {
  keepAnswer(question: string, text: string): Promise<void>;
  lastAnswer(question: string): Promise<LastAnswer | undefined>;
}

/** Records a change by an operator's name. Never rejects: a record that fails is logged, and the change stays. */
export type RecordChange = (by: string, action: string, detail?: string) => Promise<void>;

/** The two HTTP servers inside the container. */
export type SandboxPort = "gateway" | "supervisor";

/** A request into the container in plain data, so that it can cross from a Worker to its Durable Object. */
export interface PortRequest {
  method: "GET" | "POST" | "PUT";
  /** Path with query. */
  path: string;
  body?: string;
}

/** Container as the edge sees it. */
export interface Sandbox {
  /** Wakes nothing. */
  status(): Promise<SandboxStatus>;
  /**
   * Starts a stopped container in the background. An operator's wish is always granted, a visitor's three times an hour.
   * For an operator alone a crashed gateway is tried at once: a stranger must not get around its backoff.
   *
   * @returns whether it was granted.
   */
  wake(by: "visitor" | "operator"): Promise<boolean>;
  /**
   * Restarts the gateway; starts a stopped container. A cached config that somebody deleted or replaced in the bucket
   * takes effect.
   *
   * @returns the code of what failed, as data: an error loses its class on the way out of a Durable Object.
   */
  restart(): Promise<ErrorCode | undefined>;
  /** Asks one of the container's servers, with the control token added; starts the container where it is stopped. */
  request(port: SandboxPort, request: PortRequest): Promise<Response>;
  /**
   * Asks the gateway if it is ready, or the supervisor if it runs: it starts nothing and
   * keeps nothing awake, however often it is called. `undefined` where no answer came.
   */
  peek(request: PortRequest, port?: SandboxPort): Promise<Response | undefined>;
}

/** State of the copies of the state. Times are ISO 8601. */
export interface BackupsStatus {
  /** Time at which the newest copy was made. */
  lastAt?: string;
  /** Why the last attempt to make or to restore one failed; absent once one has succeeded. */
  problem?: Reason;
  /** A start found a config that was not valid, and took the one of this backup; until the file is another. */
  recovered?: RecoveredConfig;
}

/** A config that was restored from a backup automatically. */
export interface RecoveredConfig {
  id: string;
  /** ISO 8601 */
  at: string;
}

/** Copies of the state as the edge sees them; see contract/backup.ts. Rejects with StewardError. */
export interface Backups {
  /** Wakes nothing. */
  status(): Promise<BackupsStatus>;
  /** Newest first. Wakes nothing on the serverless stack, where they lie in the bucket. */
  list(): Promise<GenerationManifest[]>;
  /** Makes one now; starts a stopped container. `force` also where it holds far less than the one before. */
  create(options?: { force?: boolean; cause?: BackupCause }): Promise<GenerationManifest>;
  /** Unpacks one into a scratch directory and checks it. */
  verify(id: string): Promise<RestoreReport>;
  /** Replaces the state with a backup, after a copy of the current state, and restarts the gateway. */
  restore(id: string, config: ConfigSource): Promise<RestoreReport>;
  /** The config that a stopped container's next start takes, as JSON text, where that is known. Wakes nothing. */
  cachedConfig(): Promise<string | undefined>;
  /** The config file of one, a secret with the mark that it has in the file that is there now, whose sum this is. */
  configOf(id: string): Promise<ConfigText>;
}
