import * as z from "zod/mini";
import { StewardError } from "./errors.ts";
import { AGENT, CONFIG_FILE, STATE_FILE } from "./names.ts";
import { WORKSPACE_FOLDERS } from "./workspace.ts";

export { AWAIT_RESTORE_VARIABLE } from "./variables.ts";

/**
 * Keys of a bucket with copies of the data directory. Such a copy, a generation, is an immutable archive (tar,
 * Zstandard) with a manifest; host and serverless stacks write the same format. A host keeps its generations in
 * `backups/` of the data directory, a serverless stack in the bucket, below these keys.
 */
export const BUCKET_KEYS = {
  /** `<prefix><id>.tar.zst` is a generation's archive, `<prefix><id>.json` its manifest. */
  generations: `${AGENT}/generations/`,
  /** The cached config file (specification, section 2). */
  config: `${AGENT}/${CONFIG_FILE}`,
  /**
   * Marker of the last sync: {@link LastSync}. If both it and the cached config are deleted, the next start begins with
   * a fresh config.
   */
  marker: ".last-sync",
  /** Names the stack that owns the bucket. Only the stack writes and reads it. */
  owner: ".steward-owner.json",
} as const;

/** Endings of a generation's two files. */
export const GENERATION_FILES = { archive: ".tar.zst", manifest: ".json" } as const;

/** Parts of the data directory that belong to a generation; `state.db` without the edge's tables. */
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
 * Returns a generation's name. The epoch increases at every container start, the sequence at every copy within an
 * epoch.
 */
export function nameGeneration({ epoch, sequence }: GenerationNumber): string {
  const parts = [epoch, sequence];
  if (!parts.every((part) => Number.isInteger(part) && part >= 0 && part <= LARGEST_PART)) {
    throw new RangeError(`No generation has the number ${epoch}-${sequence}.`);
  }
  return parts.map((part) => String(part).padStart(8, "0")).join("-");
}

/** The two numbers in a generation's name. */
export interface GenerationNumber {
  epoch: number;
  sequence: number;
}

/** Returns the numbers in a generation's name, which has to be one that {@link generationId} accepts. */
export function readGenerationId(id: string): GenerationNumber {
  const [epoch = "", sequence = ""] = generationId.parse(id).split("-");
  return { epoch: Number(epoch), sequence: Number(sequence) };
}

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/** Numbers of items in a generation. A backup that holds far fewer than the previous one is not published. */
const counts = z.strictObject({
  /** Regular files in the archive. */
  files: z.int().check(z.minimum(0)),
  /** Sessions and messages include those that `sessions.retention` has removed: their removal is no loss of data. */
  sessions: z.int().check(z.minimum(0)),
  messages: z.int().check(z.minimum(0)),
  schedules: z.int().check(z.minimum(0)),
  /** Paired devices and approved senders. */
  approvals: z.int().check(z.minimum(0)),
});

/** Reasons for a backup that is not automatic: an operator's request, a rollout, a restore that is about to begin. */
const BACKUP_CAUSES = ["operator", "rollout", "restore"] as const;

/** See {@link BACKUP_CAUSES}. */
export type BackupCause = (typeof BACKUP_CAUSES)[number];

/** A generation's manifest. */
export const generationManifest = z.strictObject({
  version: z.literal(1),
  id: generationId,
  /** ISO 8601 */
  createdAt: z.iso.datetime(),
  /** SHA-256 of the archive, 64 hexadecimal digits. */
  sha256,
  /** Size of the archive in bytes. */
  size: z.int().check(z.minimum(0)),
  /** SHA-256 of the config file, 64 hexadecimal digits; `null` if there is none. */
  configSha256: z.nullable(sha256),
  /** True if the config file satisfied its schema when the copy was made. */
  configValid: z.boolean(),
  counts,
  /** Version of the steward that made the copy. */
  agentVersion: z.string().check(z.maxLength(64)),
  /** Digest of the image that this steward ran in, if known. */
  image: z.optional(z.string().check(z.maxLength(256))),
  /** Absent for an automatic copy. */
  cause: z.optional(z.enum(BACKUP_CAUSES)),
});

/** See {@link generationManifest}. */
export type GenerationManifest = z.output<typeof generationManifest>;

/**
 * Returns the first generation of a list whose config was valid when it was made.
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

/** See {@link lastSync}. */
export type LastSync = z.output<typeof lastSync>;

/**
 * Sources of the config file in a restore: the generation; no source, so that the gateway writes a fresh file from its
 * environment; or the file that is there now.
 */
export const CONFIG_SOURCES = ["generation", "fresh", "current"] as const;

/** See {@link CONFIG_SOURCES}. */
export type ConfigSource = (typeof CONFIG_SOURCES)[number];

/** Result of a restore, or of a drill, which leaves the data directory unchanged. */
export interface RestoreReport {
  id: string;
  /**
   * Counts of the archive's content. If they differ from the manifest's, the archive is refused as `backup_corrupt`.
   */
  counts: GenerationManifest["counts"];
  /** Problems of the archived config under this version's schema. */
  configProblems: { path: string; message: string }[];
}
