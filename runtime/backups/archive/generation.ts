import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { GENERATION_FILES, type GenerationManifest } from "../../contract/backup.ts";
import { readConfigText } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { STATE_FILE, VERSION } from "../../contract/names.ts";
import { exists, writeFailure } from "../../process/files.ts";
import { writeArchive } from "./archive.ts";
import type { BackupDirectory } from "./backup-directory.ts";
import { copyTables } from "./tables.ts";
import type { WriteOptions } from "../store.ts";
import { countTables } from "./content.ts";

export interface GenerationOptions extends WriteOptions {
  /** The data directory. */
  home: string;
  backupDirectory: BackupDirectory;
  id: string;
  environment: Environment;
  /** Part of the state to copy. Default: the whole state. */
  part?: StatePart;
  /** Milliseconds since the epoch. */
  clock(): number;
}

export interface StatePart {
  /** Names in the data directory; see `GENERATION_CONTENT`. */
  roots: readonly string[];
  copyTables(from: string, to: string): void;
}

/**
 * Copies the state into a new backup, even while the gateway writes. Call only within
 * `backupDirectory.runExclusively`. Removes the incomplete backup on failure.
 *
 * @throws StewardError `backup_failed`, `disk_full`, `store_corrupt`, `data_directory_unwritable`, or an error that
 * `accept` throws
 */
export async function makeGeneration(options: GenerationOptions): Promise<GenerationManifest> {
  const { backupDirectory, id } = options;
  await backupDirectory.removeUnfinished();
  if ((await backupDirectory.list()).some((one) => one.id === id)) {
    throw new StewardError("backup_failed", `The backup ${id} already exists.`);
  }
  try {
    return await make(options);
  } catch (error) {
    await backupDirectory.removeUnfinished();
    if (error instanceof StewardError) throw error;
    const failure = writeFailure(error, "The backup");
    const detail = `The state could not be copied: ${error instanceof Error ? error.message : String(error)}`;
    throw failure ?? new StewardError("backup_failed", detail, { cause: error });
  }
}

async function make(options: GenerationOptions): Promise<GenerationManifest> {
  const { home, backupDirectory, id, environment, part, clock, cause, accept } = options;
  const createdAt = new Date(clock()).toISOString();
  const [state, archive] = [
    backupDirectory.path(id, ".db.tmp"),
    backupDirectory.path(id, `${GENERATION_FILES.archive}.tmp`),
  ];
  const source = join(home, STATE_FILE);
  const copied = exists(source) ? state : undefined;
  if (copied !== undefined) (part?.copyTables ?? copyTables)(source, copied);
  const written = await writeArchive(home, copied, archive, part?.roots);
  const { files, approvals, config, ...measured } = written;
  const manifest: GenerationManifest = {
    version: 1,
    id,
    createdAt,
    ...measured,
    configSha256: config === undefined ? null : createHash("sha256").update(config).digest("hex"),
    configValid: config !== undefined && readConfigText(config.toString("utf8"), environment).result.ok,
    counts: { files, ...countTables(copied), approvals },
    agentVersion: VERSION,
    ...(cause && { cause }),
  };
  await rm(state, { force: true });
  accept?.(manifest);
  await backupDirectory.add(manifest, archive);
  return manifest;
}
