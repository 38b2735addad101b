import { createHash } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import {
  type ConfigSource,
  GENERATION_CONTENT,
  generationId,
  type RestoreReport,
} from "../../contract/backup.ts";
import { readConfigText } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { CONFIG_FILE, RESTORE_MARKER, STATE_FILE } from "../../contract/names.ts";
import type { Redactor } from "../../shared/redact.ts";
import { ensureDirectory, exists, writeFailure, writeFileAtomic } from "../../process/files.ts";
import {
  contentBelow,
  countApprovals,
  type Counts,
  countTables,
  listsApprovals,
  unlessGone,
} from "./content.ts";
import type { Archive } from "../store.ts";
import { checkTables, replaceTables } from "./tables.ts";
import { unpackArchive } from "./unpack.ts";

const SCRATCH_PREFIX = ".restore-";
const PARTS = { unpacked: "new", replaced: "old" } as const;
const FOLDERS = GENERATION_CONTENT.filter((name) => name !== CONFIG_FILE && name !== STATE_FILE);

/** Content of the file that marks a restore in progress. While the file exists, the gateway must not be running. */
const markerSchema = z.strictObject({
  version: z.literal(1),
  id: generationId,
  scratch: z.string().check(z.regex(/^\.restore-[A-Za-z0-9]+$/)),
  config: z.enum(["replace", "remove", "keep"]),
  /** True to back up the current state first. */
  copyFirst: z.boolean(),
  /** True if the state has already been changed, so that the restore can only be completed. */
  begun: z.boolean(),
});

type Marker = z.output<typeof markerSchema>;

export interface RestoreOptions extends Archive {
  /** The data directory. */
  home: string;
  environment: Environment;
  redact: Redactor;
}

interface Checked {
  report: RestoreReport;
  config: string | undefined;
}

/**
 * Unpacks an archive into a scratch directory, checks it, and removes the directory.
 *
 * @throws StewardError `backup_corrupt`, `disk_full`, `data_directory_unwritable`
 */
export async function verifyArchive(options: RestoreOptions): Promise<Checked> {
  return inScratch(options, async () => false);
}

/**
 * Unpacks and checks an archive, then passes the unpacked directory to `work`.
 *
 * @throws StewardError in the same cases as {@link verifyArchive}; also any error from `work`.
 */
export async function withUnpackedArchive(
  options: RestoreOptions,
  work: (directory: string) => Promise<void>,
): Promise<RestoreReport> {
  const { report } = await inScratch(options, async (scratch) => {
    await work(join(options.home, scratch, PARTS.unpacked));
    return false;
  });
  return report;
}

/**
 * Unpacks and checks an archive, and marks it for {@link finishRestore}. After an interruption, the supervisor
 * finishes the restore at its next start.
 *
 * @throws StewardError in the same cases as {@link verifyArchive}, without marking the archive
 */
export async function stageRestore(
  options: RestoreOptions,
  { config, copyFirst }: { config: ConfigSource; copyFirst: boolean },
): Promise<RestoreReport> {
  const { home, manifest } = options;
  const { report } = await inScratch(options, async (scratch) => {
    const unpacked = join(home, scratch, PARTS.unpacked);
    // Create missing folders: {@link place} would treat an absent one as already moved.
    for (const folder of FOLDERS) await mkdir(join(unpacked, folder), { recursive: true, mode: 0o700 });
    await mkdir(join(home, scratch, PARTS.replaced), { mode: 0o700 });
    const fromArchive = exists(join(unpacked, CONFIG_FILE)) ? "replace" : "remove";
    const what = { generation: fromArchive, fresh: "remove", current: "keep" } as const;
    // If an earlier restore has changed the state, this restore must not be cancelled: the previous state is gone.
    const begun = await readMarker(home).then(
      (other) => other?.begun ?? false,
      () => true,
    );
    mark(home, { version: 1, id: manifest.id, scratch, config: what[config], copyFirst, begun });
    return true;
  });
  return report;
}

/**
 * Replaces the state with the archive that {@link stageRestore} has marked. The gateway must not be running. After an
 * interruption or `restore_failed`, call this function again.
 *
 * @param copy Backs up the current state.
 * @returns the restored backup's id; `undefined` if no archive was marked
 * @throws StewardError `restore_failed` if only part of the state was replaced. Any other error: the restore was
 * cancelled and the state is unchanged.
 */
export async function finishRestore(home: string, copy: () => Promise<unknown>): Promise<string | undefined> {
  const marker = await readMarker(home);
  if (marker === undefined) return undefined;
  const scratch = join(home, marker.scratch);
  const unpacked = join(scratch, PARTS.unpacked);
  const tables = join(unpacked, STATE_FILE);
  try {
    if (!marker.begun && marker.copyFirst) await copy();
    mark(home, { ...marker, begun: true });
    replaceTables(join(home, STATE_FILE), exists(tables) ? tables : undefined);
  } catch (error) {
    if (marker.begun) throw restoreFailed(error);
    await clear(home, scratch);
    throw error;
  }
  try {
    for (const folder of FOLDERS) await place(home, scratch, folder);
    const config = join(home, CONFIG_FILE);
    if (marker.config === "remove") await rm(config, { force: true });
    if (marker.config === "replace") await unlessGone(rename(join(unpacked, CONFIG_FILE), config));
    await sync(home);
  } catch (error) {
    throw restoreFailed(error);
  }
  await clear(home, scratch);
  return marker.id;
}

/** Removes unpacked archives that a crash left behind. Call only within `backupDirectory.runExclusively`. */
export async function removeScratch(home: string): Promise<void> {
  const marker = await readMarker(home);
  for (const name of (await unlessGone(readdir(home))) ?? []) {
    if (!name.startsWith(SCRATCH_PREFIX) || name === marker?.scratch) continue;
    await rm(join(home, name), { recursive: true, force: true });
  }
}

async function inScratch(
  options: RestoreOptions,
  keep: (scratch: string) => Promise<boolean>,
): Promise<Checked> {
  const { home } = options;
  ensureDirectory(home);
  const path = await mkdtemp(join(home, SCRATCH_PREFIX)).catch((error: unknown) => {
    throw writeFailure(error, home) ?? error;
  });
  let kept = false;
  try {
    const unpacked = join(path, PARTS.unpacked);
    const files = await unpackArchive(options, unpacked);
    const checked = await checkUnpacked(unpacked, files, options);
    kept = await keep(path.slice(path.lastIndexOf(SCRATCH_PREFIX)));
    return checked;
  } finally {
    if (!kept) await rm(path, { recursive: true, force: true });
  }
}

/** Moves an unpacked folder into the data directory. Does nothing if an interrupted restore has already moved it. */
async function place(home: string, scratch: string, folder: string): Promise<void> {
  const [unpacked, placed] = [join(scratch, PARTS.unpacked, folder), join(home, folder)];
  if (!exists(unpacked)) return;
  await unlessGone(rename(placed, join(scratch, PARTS.replaced, folder)));
  await rename(unpacked, placed);
}

function mark(home: string, marker: Marker): void {
  writeFileAtomic(join(home, RESTORE_MARKER), `${JSON.stringify(marker)}\n`);
}

async function readMarker(home: string): Promise<Marker | undefined> {
  const path = join(home, RESTORE_MARKER);
  const text = await unlessGone(readFile(path, "utf8"));
  if (text === undefined) return undefined;
  try {
    return markerSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new StewardError("restore_failed", `${path} was not written by a restore.`, { cause: error });
  }
}

async function clear(home: string, scratch: string): Promise<void> {
  await rm(join(home, RESTORE_MARKER), { force: true });
  await rm(scratch, { recursive: true, force: true });
}

/** Makes renames in a directory survive a power failure. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function restoreFailed(error: unknown): StewardError {
  const why = error instanceof Error ? error.message : String(error);
  return new StewardError("restore_failed", `The state could not be put in place: ${why}`, { cause: error });
}

/**
 * Checks the unpacked content against the manifest.
 *
 * @throws StewardError `backup_corrupt` if they differ
 */
async function checkUnpacked(
  directory: string,
  files: number,
  { manifest, environment, redact }: RestoreOptions,
): Promise<Checked> {
  const state = join(directory, STATE_FILE);
  const database = exists(state) ? state : undefined;
  if (database !== undefined) checkTables(database);
  const counts: Counts = {
    files,
    ...countTables(database),
    approvals: await approvalsBelow(directory),
  };
  const wrong = Object.entries(manifest.counts).filter(
    ([name, count]) => counts[name as keyof Counts] !== count,
  );
  if (wrong.length > 0) {
    const detail = wrong.map(
      ([name, count]) => `${counts[name as keyof Counts]} ${name} instead of ${count}`,
    );
    throw new StewardError("backup_corrupt", `The archive holds ${detail.join(", ")}.`);
  }
  const config = await unlessGone(readFile(join(directory, CONFIG_FILE)));
  const sha256 = config === undefined ? null : createHash("sha256").update(config).digest("hex");
  if (sha256 !== manifest.configSha256) {
    throw new StewardError("backup_corrupt", "The archive's config file does not match its manifest.");
  }
  const text = config?.toString("utf8");
  const reading = text === undefined ? undefined : readConfigText(text, environment).result;
  const problems = reading === undefined || reading.ok ? [] : reading.problems;
  const configProblems = problems.map(({ path, message }) => ({ path, message: redact(message) }));
  return { report: { id: manifest.id, counts, configProblems }, config: text };
}

async function approvalsBelow(directory: string): Promise<number> {
  let approvals = 0;
  for (const folder of ["credentials", "devices"]) {
    for await (const { name, path, stats } of contentBelow(directory, folder)) {
      if (stats.isFile() && listsApprovals(name, stats))
        approvals += countApprovals(await readFile(path, "utf8"));
    }
  }
  return approvals;
}
