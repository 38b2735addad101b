import { parseJson } from "../../shared/json.ts";
import { createReadStream } from "node:fs";
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  GENERATION_FILES,
  generationId,
  generationManifest,
  type GenerationManifest,
  type GenerationNumber,
  nameGeneration,
  readGenerationId,
} from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import { BACKUPS_DIRECTORY } from "../../contract/names.ts";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { tryLock } from "../../process/lock.ts";
import type { Archive } from "../store.ts";
import { unlessGone } from "./content.ts";

const OURS = /^(\d{8}-\d{8})\./;

/**
 * Folder of backups, by default `backups/` in the data directory. A backup without a manifest is unfinished and is
 * not listed.
 */
export class BackupDirectory {
  readonly #directory: string;

  constructor(home: string, directory = join(home, BACKUPS_DIRECTORY)) {
    this.#directory = directory;
  }

  /**
   * Runs `work` while holding the backup directory's lock.
   *
   * @throws StewardError `commands_busy` if another process or call holds the lock
   */
  async runExclusively<T>(work: () => Promise<T>): Promise<T> {
    ensureDirectory(this.#directory);
    const letGo = tryLock(join(this.#directory, ".lock"));
    if (letGo === undefined) {
      throw new StewardError("commands_busy", "Another backup or restore is in progress.");
    }
    try {
      return await work();
    } finally {
      letGo();
    }
  }

  /** Returns the path of a backup's file. `ending` begins with a dot. */
  path(id: string, ending: string): string {
    return join(this.#directory, `${generationId.parse(id)}${ending}`);
  }

  async list(): Promise<GenerationManifest[]> {
    const ids = (await this.#names())
      .filter((name) => name.endsWith(GENERATION_FILES.manifest))
      .map((name) => name.slice(0, -GENERATION_FILES.manifest.length))
      .filter((id) => generationId.safeParse(id).success);
    const found = await Promise.all(ids.sort().map((id) => this.#manifest(id)));
    return found.filter((manifest) => manifest !== undefined).toReversed();
  }

  /** @throws StewardError `backup_unknown`. */
  async find(id: string): Promise<GenerationManifest> {
    const manifest = generationId.safeParse(id).success ? await this.#manifest(id) : undefined;
    if (manifest === undefined) throw new StewardError("backup_unknown", `There is no backup ${id}.`);
    return manifest;
  }

  /**
   * Returns a backup's archive. Opens the archive file only when the content is read.
   *
   * @throws StewardError `backup_unknown`
   */
  async read({ id }: Pick<GenerationManifest, "id">): Promise<Archive> {
    return { manifest: await this.find(id), content: this.#content(id) };
  }

  async *#content(id: string): AsyncGenerator<Buffer> {
    // The backup may have been removed since `read` returned.
    await this.find(id);
    yield* createReadStream(this.path(id, GENERATION_FILES.archive)) as AsyncIterable<Buffer>;
  }

  /**
   * Adds a backup. Moves its archive from the path `archive` into this directory. Call only within {@link
   * runExclusively}.
   */
  async add(manifest: GenerationManifest, archive: string): Promise<void> {
    await rename(archive, this.path(manifest.id, GENERATION_FILES.archive));
    // Write the manifest last: it completes the backup.
    const path = this.path(manifest.id, GENERATION_FILES.manifest);
    writeFileAtomic(path, `${JSON.stringify(manifest, null, 2)}\n`);
  }

  /** @throws StewardError `backup_unknown` */
  remove(id: string): Promise<void> {
    return this.runExclusively(async () => {
      await this.find(id);
      // Delete the manifest first: after a crash, the archive then counts as unfinished and is removed.
      await rm(this.path(id, GENERATION_FILES.manifest), { force: true });
      await rm(this.path(id, GENERATION_FILES.archive), { force: true });
    });
  }

  /** Removes files of unfinished backups. Call only within {@link runExclusively}. */
  async removeUnfinished(): Promise<void> {
    const whole = new Set((await this.list()).map(({ id }) => id));
    for (const name of await this.#names()) {
      const [, id = ""] = OURS.exec(name) ?? [];
      const belongs = Object.values(GENERATION_FILES).some((ending) => name === `${id}${ending}`);
      if (id !== "" && !(belongs && whole.has(id))) {
        await rm(join(this.#directory, name), { force: true });
      }
    }
  }

  /** Returns zeros if there is no backup. */
  async newestNumber(): Promise<GenerationNumber> {
    const [newest] = await this.list();
    return newest === undefined ? { epoch: 0, sequence: 0 } : readGenerationId(newest.id);
  }

  /** Returns the next backup's id. Uses the newest backup's epoch if it is later than `epoch`. */
  async nextId(epoch: number): Promise<string> {
    const last = await this.newestNumber();
    const isNew = last.epoch < epoch;
    return nameGeneration(isNew ? { epoch, sequence: 1 } : { ...last, sequence: last.sequence + 1 });
  }

  async #names(): Promise<string[]> {
    return (await unlessGone(readdir(this.#directory))) ?? [];
  }

  /** Returns a backup's manifest; `undefined` if a file is missing or this version cannot read the manifest. */
  async #manifest(id: string): Promise<GenerationManifest | undefined> {
    const text = await unlessGone(readFile(this.path(id, GENERATION_FILES.manifest), "utf8"));
    const archive = await unlessGone(stat(this.path(id, GENERATION_FILES.archive)));
    if (text === undefined || archive === undefined) return undefined;
    const manifest = generationManifest.safeParse(parseJson(text)).data;
    return manifest?.id === id ? manifest : undefined;
  }
}
