import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "./files.ts";

/** Stores each uploaded module once, in a file named after the content's SHA-256. */
export class ModuleStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = join(dir, "modules");
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
  }

  put(content: Uint8Array): string {
    const hash = createHash("sha256").update(content).digest("hex");
    const file = join(this.#dir, hash);
    if (!existsSync(file)) writeAtomically(file, content);
    return hash;
  }

  /** @throws if no module with this hash is stored */
  get(sha256: string): Uint8Array {
    return readFileSync(join(this.#dir, sha256));
  }

  prune(used: ReadonlySet<string>): void {
    for (const hash of readdirSync(this.#dir)) {
      if (!used.has(hash)) rmSync(join(this.#dir, hash));
    }
  }
}
