import * as z from "zod/mini";
import { AGENT, CONFIG_FILE, STATE_FILE } from "./names.ts";

export { AWAIT_RESTORE_VARIABLE } from "./variables.ts";

/**
 * Copies of the data directory. A generation is an immutable archive (tar, Zstandard) with a manifest
 * beside it; host and serverless write the same form. On a host they lie in `backups/` of the data
 * directory, on the serverless stack in the bucket, below the keys that follow.
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
  /** Says which stack owns the bucket. Written and read by the stack alone. */
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
  "workspace",
  STATE_FILE,
] as const;

const LARGEST_PART = 99_999_999;

/** `<epoch>-<sequence>`, each of eight digits, so that names sort by age. */
export const generationId = z.string().check(z.regex(/^\d{8}-\d{8}$/));

/** The name of a generation. The epoch moves at every container start, the sequence at every copy within it. */
export function nameGeneration({ epoch, sequence }: GenerationNumber): string {
  const parts = [epoch, sequence];
  if (!parts.every((part) => Number.isInteger(part) && part >= 0 && part <= LARGEST_PART)) {
    throw new RangeError(`No generation has the number ${epoch}-${sequence}.`);
  }
  return parts.map((part) => String(part).padStart(8, "0")).join("-");
}

/** The two numbers of a generation's name. */
export interface GenerationNumber {
  epoch: number;
  sequence: number;
}

/** The numbers of a name that {@link generationId} has accepted. */
export function readGenerationId(id: string): GenerationNumber {
  const [epoch = "", sequence = ""] = generationId.parse(id).split("-");
  return { epoch: Number(epoch), sequence: Number(sequence) };
}

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/** Counts of a generation. A backup that holds far less than the previous one is not published. */
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

/**
 * Reasons for a backup besides the automatic ones: an operator's request, a rollout, a restore that is about to begin.
 */
const BACKUP_CAUSES = ["operator", "rollout", "restore"] as const;

/** See {@link BACKUP_CAUSES}. */
export type BackupCause = (typeof BACKUP_CAUSES)[number];

/** A generation's manifest. */
export const generationManifest = z.strictObject({
  version: z.literal(1),
  id: generationId,
  /** ISO 8601 */
  createdAt: z.iso.datetime(),
  /** Of the archive, 64 hexadecimal digits. */
  sha256,
  /** Of the archive, in bytes. */
  size: z.int().check(z.minimum(0)),
  /** Of the config file, 64 hexadecimal digits; `null` where there is none. */
  configSha256: z.nullable(sha256),
  /** The config file satisfied its schema when the copy was made. */
  configValid: z.boolean(),
  counts,
  /** The steward that made it. */
  agentVersion: z.string().check(z.maxLength(64)),
  /** Digest of the image that it ran in, where that is known. */
  image: z.optional(z.string().check(z.maxLength(256))),
  /** Absent for an automatic copy. */
  cause: z.optional(z.enum(BACKUP_CAUSES)),
});

/** See {@link generationManifest}. */
export type GenerationManifest = z.output<typeof generationManifest>;

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
 * Source from which a restore takes the config file: the generation, or nowhere, so that the gateway writes a
 * fresh one from its environment, or the file that is there now.
 */
export const CONFIG_SOURCES = ["generation", "fresh", "current"] as const;

/** See {@link CONFIG_SOURCES}. */
export type ConfigSource = (typeof CONFIG_SOURCES)[number];

/** Result of a restore, or of a drill, which leaves the data directory unchanged. */
export interface RestoreReport {
  id: string;
  /** Content of the archive; equal to the manifest's, or it is refused as `backup_corrupt`. */
  counts: GenerationManifest["counts"];
  /** Problems of the archived config under this version's schema. */
  configProblems: { path: string; message: string }[];
}
