import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import {
  type ConfigSource,
  GENERATION_CONTENT,
  generationId,
  type GenerationManifest,
  type RestoreReport,
} from "../../contract/backup.ts";
import { readConfigText } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { CONFIG_FILE, RESTORE_MARKER, STATE_FILE } from "../../contract/names.ts";
import type { Redactor } from "../../shared/redact.ts";
import { ensureDirectory, writeFailure, writeFileAtomic } from "../files.ts";
import {
  countApprovals,
  type Counts,
  countTables,
  LARGEST_LIST,
  listsApprovals,
  unlessGone,
} from "./content.ts";
import { checkTables, replaceTables } from "./tables.ts";
import { type Archive, unpackArchive } from "./unpack.ts";

const SCRATCH_PREFIX = ".restore-";
/** Below a scratch directory: what was unpacked, and what it takes the place of. */
const PARTS = { unpacked: "new", replaced: "old" } as const;
const FOLDERS = GENERATION_CONTENT.filter((name) => name !== CONFIG_FILE && name !== STATE_FILE);

/** Names what is being put in place. While it is there, the gateway must not run. */
const markerSchema = z.strictObject({
  version: z.literal(1),
  id: generationId,
  scratch: z.string().check(z.regex(/^\.restore-[A-Za-z0-9]+$/)),
  config: z.enum(["replace", "remove", "keep"]),
  /** A copy of what is there now is to be made first. */
  copyFirst: z.boolean(),
  /** Something has been changed already: there is only forward. */
  begun: z.boolean(),
});

type Marker = z.output<typeof markerSchema>;

/** Archive to restore, and how. */
export interface RestoreOptions extends Archive, Omit<CheckOptions, "manifest"> {
  /** The data directory. */
  home: string;
}

/**
 * Unpacks and checks an archive, and leaves nothing behind.
 *
 * @throws StewardError `backup_corrupt`, `disk_full`, `data_directory_unwritable`.
 */
export async function drill(options: RestoreOptions): Promise<RestoreReport> {
  return inScratch(options, async () => false);
}

/**
 * Unpacks and checks an archive as {@link drill} does, and reads its config file.
 *
 * @throws StewardError as {@link drill}; `config_missing` where the archive holds none.
 */
export async function readArchivedConfig(
  options: RestoreOptions,
): Promise<{ text: string; report: RestoreReport }> {
  let text: string | undefined;
  const report = await inScratch(options, async (scratch) => {
    const path = join(options.home, scratch, PARTS.unpacked, CONFIG_FILE);
    text = await unlessGone(readFile(path, "utf8"));
    return false;
  });
  if (text === undefined) throw new StewardError("config_missing", "The backup holds no config file.");
  return { text, report };
}

/**
 * Unpacks and checks an archive and marks it as to be put in place: {@link finishRestore} does that, or the
 * supervisor at its next start.
 *
 * @throws StewardError as {@link drill}; nothing is marked then.
 */
export async function stageRestore(
  options: RestoreOptions,
  { config, copyFirst }: { config: ConfigSource; copyFirst: boolean },
): Promise<RestoreReport> {
  const { home, manifest } = options;
  return inScratch(options, async (scratch) => {
    const unpacked = join(home, scratch, PARTS.unpacked);
    // A folder that was placed is gone from here, so none may be missing for another reason.
    for (const folder of FOLDERS) await mkdir(join(unpacked, folder), { recursive: true, mode: 0o700 });
    await mkdir(join(home, scratch, PARTS.replaced), { mode: 0o700 });
    const fromArchive = existsSync(join(unpacked, CONFIG_FILE)) ? "replace" : "remove";
    const what = { generation: fromArchive, fresh: "remove", current: "keep" } as const;
    // What another restore has left half done is no state to go back to.
    const begun = await readMarker(home).then(
      (other) => other?.begun ?? false,
      () => true,
    );
    mark(home, { version: 1, id: manifest.id, scratch, config: what[config], copyFirst, begun });
    return true;
  });
}

/**
 * Puts in place what is marked, if anything is; the gateway must not run. Whatever it is interrupted by, it
 * can be called again. `copy` is what makes a copy of the state as it is.
 *
 * @returns the generation's name. @throws StewardError: where nothing was changed the restore is called off
 * and the state is as it was, else `restore_failed` and the marker stays.
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
    replaceTables(join(home, STATE_FILE), existsSync(tables) ? tables : undefined);
  } catch (error) {
    if (marker.begun) throw stuck(error);
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
    throw stuck(error);
  }
  await clear(home, scratch);
  return marker.id;
}

/** Removes scratch directories that a crash left behind. Only within `shelf.alone`. */
export async function removeScratch(home: string): Promise<void> {
  const marker = await readMarker(home);
  for (const name of (await unlessGone(readdir(home))) ?? []) {
    if (!name.startsWith(SCRATCH_PREFIX) || name === marker?.scratch) continue;
    await rm(join(home, name), { recursive: true, force: true });
  }
}

async function inScratch(
  { home, content, manifest, environment, redact }: RestoreOptions,
  keep: (scratch: string) => Promise<boolean>,
): Promise<RestoreReport> {
  ensureDirectory(home);
  const path = await mkdtemp(join(home, SCRATCH_PREFIX)).catch((error: unknown) => {
    throw writeFailure(error, home) ?? error;
  });
  let kept = false;
  try {
    const unpacked = join(path, PARTS.unpacked);
    const files = await unpackArchive({ content, manifest }, unpacked);
    const report = await checkUnpacked(unpacked, files, { manifest, environment, redact });
    kept = await keep(path.slice(path.lastIndexOf(SCRATCH_PREFIX)));
    return report;
  } finally {
    if (!kept) await rm(path, { recursive: true, force: true });
  }
}

/** A folder that is not among what was unpacked has been placed before. */
async function place(home: string, scratch: string, folder: string): Promise<void> {
  const [unpacked, placed] = [join(scratch, PARTS.unpacked, folder), join(home, folder)];
  if (!existsSync(unpacked)) return;
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
    throw new StewardError("restore_failed", `${path} is not what a restore has written.`, { cause: error });
  }
}

async function clear(home: string, scratch: string): Promise<void> {
  await rm(join(home, RESTORE_MARKER), { force: true });
  await rm(scratch, { recursive: true, force: true });
}

/** Renamed files are where they belong after a power cut, too. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function stuck(error: unknown): StewardError {
  const why = error instanceof Error ? error.message : String(error);
  return new StewardError("restore_failed", `The state could not be put in place: ${why}`, { cause: error });
}

/** Dependencies of the check of an unpacked archive. */
interface CheckOptions {
  manifest: GenerationManifest;
  /** Environment that the config file is checked against. */
  environment: Environment;
  redact: Redactor;
}

/**
 * Checks what was unpacked.
 *
 * @throws StewardError `backup_corrupt` where it is not what the manifest says.
 */
async function checkUnpacked(
  directory: string,
  files: number,
  { manifest, environment, redact }: CheckOptions,
): Promise<RestoreReport> {
  const state = join(directory, STATE_FILE);
  const database = existsSync(state) ? state : undefined;
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
    throw new StewardError("backup_corrupt", "The archive's config file is not the one of its manifest.");
  }
  const reading = config && readConfigText(config.toString("utf8"), environment).result;
  const problems = reading === undefined || reading.ok ? [] : reading.problems;
  const configProblems = problems.map(({ path, message }) => ({ path, message: redact(message) }));
  return { id: manifest.id, counts, configProblems };
}

async function approvalsBelow(directory: string): Promise<number> {
  let approvals = 0;
  for (const folder of ["credentials", "devices"]) {
    for (const file of (await unlessGone(readdir(join(directory, folder)))) ?? []) {
      const path = join(directory, folder, file);
      if (!listsApprovals(`${folder}/${file}`) || (await stat(path)).size > LARGEST_LIST) continue;
      approvals += countApprovals(await readFile(path, "utf8"));
    }
  }
  return approvals;
}
