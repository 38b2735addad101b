import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { onTestFinished } from "vitest";

/** Only root may mount a volume. */
export const canMount = process.getuid?.() === 0;
if (!canMount) process.stdout.write("skipped: a full volume (only root may mount one)\n");

/** Mounts a small volume in memory until the test ends. The unmount succeeds even if a process has open files there. */
export function mountVolume(folder: string, mebibytes: number): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
}

export function fillVolume(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (const size of [1_048_576, 4_096, 1]) {
      try {
        for (;;) if (writeSync(descriptor, Buffer.alloc(size)) < size) break;
      } catch {
        // A smaller chunk may still fit.
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
