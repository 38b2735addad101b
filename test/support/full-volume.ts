import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { onTestFinished } from "vitest";

/** Only root may mount a volume. Says so where it is not. */
export const canMount = process.getuid?.() === 0;
if (!canMount) process.stdout.write("skipped: a full volume (only root may mount one)\n");

/** Mounts a small volume at a folder, until the test has ended. Who has it open then goes on writing to nowhere. */
export function mountVolume(folder: string, mebibytes: number): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
}

/** Writes a file until there is no room for another byte of it. */
export function fillVolume(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (const size of [1_048_576, 4_096, 1]) {
      try {
        for (;;) if (writeSync(descriptor, Buffer.alloc(size)) < size) break;
      } catch {
        // No room for a piece of this size: a smaller one may fit.
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
