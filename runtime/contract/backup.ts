import * as z from "zod/mini";
import { StewardError } from "./errors.ts";
import { AGENT, CONFIG_FILE, STATE_FILE } from "./names.ts";
import { WORKSPACE_FOLDERS } from "./workspace.ts";

export { AWAIT_RESTORE_VARIABLE } from "./variables.ts";

/**
 * Object keys in the bucket that stores backups of the data directory. A backup ("generation") consists of an immutable
 * tar archive, compressed with Zstandard, and a manifest. A host stores the same two files in `backups/` of its data
 * directory.
 */
export const BUCKET_KEYS = {
  /** Prefix of the backups: `<prefix><id>.tar.zst` is an archive, `<prefix><id>.json` its manifest. */
  generations: `${AGENT}/generations/`,
  /** The cached config file (specification, section 2). */
  config: `${AGENT}/${CONFIG_FILE}`,
  /**
   * Marker of the last sync; see {@link LastSync}. If both this marker and the cached config are deleted, the next
   * start writes a fresh config.
   */
  marker: ".last-sync",
  /** Object that names the stack owning the bucket. */
  owner: ".steward-owner.json",
} as const;

export const GENERATION_FILES = { archive: ".tar.zst", manifest: ".json" } as const;

/** Files and folders of the data directory that a backup contains. Its copy of `state.db` omits the edge's tables. */
export const GENERATION_CONTENT = [
  CONFIG_FILE,
  "credentials",
  "devices",
  "sessions",
  WORKSPACE_FOLDERS.shared,
  WORKSPACE_FOLDERS.chats,
  WORKSPACE_FOLDERS.history,
  STATE_FILE,
] as const;

const LARGEST_PART = 99_999_999;

/** `<epoch>-<sequence>`, each of eight digits, so that names sort by age. */
export const generationId = z.string().check(z.regex(/^\d{8}-\d{8}$/));

/**
 * Returns a backup's id. The epoch increases at every container start, the sequence at every backup within an epoch.
 */
export function nameGeneration({ epoch, sequence }: GenerationNumber): string {
  const parts = [epoch, sequence];
  if (!parts.every((part) => Number.isInteger(part) && part >= 0 && part <= LARGEST_PART)) {
    throw new RangeError(`No generation has the number ${epoch}-${sequence}.`);
  }
  return parts.map((part) => String(part).padStart(8, "0")).join("-");
}

export interface GenerationNumber {
  epoch: number;
  sequence: number;
}

/** Parses an id that satisfies {@link generationId}. */
export function readGenerationId(id: string): GenerationNumber {
  const [epoch = "", sequence = ""] = generationId.parse(id).split("-");
  return { epoch: Number(epoch), sequence: Number(sequence) };
}

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/**
 * Item counts of a backup. A backup with far fewer items than the previous one is not published. Sessions and
 * messages removed by `sessions.retention` still count.
 */
const counts = z.strictObject({
  /** Regular files in the archive. */
  files: z.int().check(z.minimum(0)),
  /** Number of sessions, including removed ones. */
  sessions: z.int().check(z.minimum(0)),
  messages: z.int().check(z.minimum(0)),
  schedules: z.int().check(z.minimum(0)),
  /** Paired devices and approved senders. */
  approvals: z.int().check(z.minimum(0)),
});

/** Causes of backups that are not automatic: an operator's request, a rollout, or an imminent restore. */
const BACKUP_CAUSES = ["operator", "rollout", "restore"] as const;

export type BackupCause = (typeof BACKUP_CAUSES)[number];

export const generationManifest = z.strictObject({
  version: z.literal(1),
  id: generationId,
  /** ISO 8601 */
  createdAt: z.iso.datetime(),
  /** SHA-256 of the archive. */
  sha256,
  /** Size of the archive in bytes. */
  size: z.int().check(z.minimum(0)),
  /** SHA-256 of the config file; `null` if there is none. */
  configSha256: z.nullable(sha256),
  /** True if the config file was valid when the backup was made. */
  configValid: z.boolean(),
  counts,
  agentVersion: z.string().check(z.maxLength(64)),
  /** Digest of the image that made the backup, if known. */
  image: z.optional(z.string().check(z.maxLength(256))),
  /** Absent if the backup is automatic. */
  cause: z.optional(z.enum(BACKUP_CAUSES)),
});

export type GenerationManifest = z.output<typeof generationManifest>;

/**
 * Returns the newest backup with a valid config. The list must be newest first.
 *
 * @throws StewardError `config_no_good` if there is none
 */
export function newestValid(generations: readonly GenerationManifest[]): GenerationManifest {
  const found = generations.find(({ configValid }) => configValid);
  if (found === undefined) throw new StewardError("config_no_good");
  return found;
}

/** Content of `.last-sync`. */
const lastSync = z.strictObject({
  version: z.literal(1),
  generation: generationId,
  /** ISO 8601 */
  at: z.iso.datetime(),
  configSha256: generationManifest.shape.configSha256,
});

export type LastSync = z.output<typeof lastSync>;

/**
 * Sources of the config file in a restore: the backup, a fresh file from the gateway's environment, or the current
 * file.
 */
export const CONFIG_SOURCES = ["generation", "fresh", "current"] as const;

export type ConfigSource = (typeof CONFIG_SOURCES)[number];

/** Result of a restore, or of a trial restore, which leaves the data directory unchanged. */
export interface RestoreReport {
  id: string;
  /** Counts of the archive's content. They must equal the manifest's; otherwise the archive is `backup_corrupt`. */
  counts: GenerationManifest["counts"];
  /** Problems that this version finds in the archived config. */
  configProblems: { path: string; message: string }[];
}
