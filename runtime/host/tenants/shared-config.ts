import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { CONFIG_FILE } from "../../contract/names.ts";
import { writeFileAtomic } from "../../process/files.ts";

/** File mode of the config copy: readable by every user, writable by the owner alone. */
const SHARED = 0o644;

export class SharedConfig {
  readonly path: string;
  readonly #source: string;
  #published = "";
  /** SHA-256 of the published file; empty before the first `publish`. */
  digest = "";

  /** @param folder Folder for the config's copy; accessible to every chat's system user. */
  constructor(source: string, folder: string) {
    this.#source = source;
    this.path = path.join(folder, CONFIG_FILE);
  }

  read(): string | undefined {
    try {
      return readFileSync(this.#source, "utf8");
    } catch {
      return undefined;
    }
  }

  publish(): void {
    const text = this.read();
    if (text === undefined || text === this.#published) return;
    writeFileAtomic(this.path, text, SHARED);
    this.#published = text;
    this.digest = createHash("sha256").update(text).digest("hex");
  }
}
