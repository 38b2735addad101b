import { parseJson } from "../../shared/json.ts";
import { createReadStream, type ReadStream } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  GENERATION_FILES,
  generationId,
  generationManifest,
  type GenerationManifest,
  nameGeneration,
  readGenerationId,
} from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import { BACKUPS_DIRECTORY } from "../../contract/names.ts";
import { ensureDirectory } from "../files.ts";
import { tryLock } from "../lock.ts";
import { unlessGone } from "./content.ts";

/** A generation's files, and what is left where one was not finished. */
const OURS = /^(\d{8}-\d{8})\./;

/** The folder of a data directory in which generations lie. One whose manifest is missing does not exist. */
export class Shelf {
  readonly #directory: string;

  constructor(home: string) {
    this.#directory = join(home, BACKUPS_DIRECTORY);
  }

  /**
   * Runs work that makes, removes or restores generations: one at a time, in whatever process.
   *
   * @throws StewardError `commands_busy` while other such work runs.
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    ensureDirectory(this.#directory);
    const letGo = tryLock(join(this.#directory, ".lock"));
    if (letGo === undefined) {
      throw new StewardError("commands_busy", "Another backup or restore is under way.");
    }
    try {
      return await work();
    } finally {
      letGo();
    }
  }

  /** Returns where a file of a generation lies. `ending` begins with a dot. */
  path(id: string, ending: string): string {
    return join(this.#directory, `${generationId.parse(id)}${ending}`);
  }

  /** The manifests, newest first. */
  async list(): Promise<GenerationManifest[]> {
    const ids = (await this.#names())
      .filter((name) => name.endsWith(GENERATION_FILES.manifest))
      .map((name) => name.slice(0, -GENERATION_FILES.manifest.length))
      .filter((id) => generationId.safeParse(id).success);
    const found = await Promise.all(ids.sort().map((id) => this.#read(id)));
    return found.filter((manifest) => manifest !== undefined).toReversed();
  }

  /** @throws StewardError `backup_unknown`. */
  async find(id: string): Promise<GenerationManifest> {
    const manifest = generationId.safeParse(id).success ? await this.#read(id) : undefined;
    if (manifest === undefined) throw new StewardError("backup_unknown", `There is no backup ${id}.`);
    return manifest;
  }

  /**
   * Opens a generation's archive.
   *
   * @throws StewardError `backup_unknown`.
   */
  async open(id: string): Promise<{ content: ReadStream; manifest: GenerationManifest }> {
    const manifest = await this.find(id);
    return { content: createReadStream(this.path(id, GENERATION_FILES.archive)), manifest };
  }

  /**
   * Removes a generation.
   *
   * @throws StewardError `backup_unknown`.
   */
  async remove(id: string): Promise<void> {
    await this.find(id);
    // Without its manifest it does not exist, so what a crash in between leaves is tidied away.
    await rm(this.path(id, GENERATION_FILES.manifest), { force: true });
    await rm(this.path(id, GENERATION_FILES.archive), { force: true });
  }

  /** Removes what was not finished. Only within {@link alone}. */
  async tidy(): Promise<void> {
    const whole = new Set((await this.list()).map(({ id }) => id));
    for (const name of await this.#names()) {
      const [, id = ""] = OURS.exec(name) ?? [];
      const belongs = Object.values(GENERATION_FILES).some((ending) => name === `${id}${ending}`);
      if (id !== "" && !(belongs && whole.has(id))) {
        await rm(join(this.#directory, name), { force: true });
      }
    }
  }

  /** The highest epoch that there is; 0 where there is none. */
  async epoch(): Promise<number> {
    const [newest] = await this.list();
    return newest === undefined ? 0 : readGenerationId(newest.id).epoch;
  }

  /** A name for the next one of an epoch. */
  async next(epoch: number): Promise<string> {
    const [newest] = await this.list();
    const { epoch: last, sequence } = newest ? readGenerationId(newest.id) : { epoch: 0, sequence: 0 };
    return nameGeneration(last < epoch ? { epoch, sequence: 1 } : { epoch: last, sequence: sequence + 1 });
  }

  async #names(): Promise<string[]> {
    return (await unlessGone(readdir(this.#directory))) ?? [];
  }

  /** `undefined` where it is not there as a whole, or is not this version's. */
  async #read(id: string): Promise<GenerationManifest | undefined> {
    const text = await unlessGone(readFile(this.path(id, GENERATION_FILES.manifest), "utf8"));
    const archive = await unlessGone(stat(this.path(id, GENERATION_FILES.archive)));
    if (text === undefined || archive === undefined) return undefined;
    const manifest = generationManifest.safeParse(parseJson(text)).data;
    return manifest?.id === id ? manifest : undefined;
  }
}
