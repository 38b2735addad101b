import { renameSync, writeFileSync } from "node:fs";

/** Replaces a file atomically, with mode 0600. */
export function writeAtomically(file: string, content: string | Uint8Array): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600, flush: true });
  renameSync(temporary, file);
}
