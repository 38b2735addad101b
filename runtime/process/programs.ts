import { existsSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(import.meta.url);

/**
 * Returns the folder that holds the programs, each below its own name: `runtime` in source, `/app` in the image. Looked
 * for upwards, since a bundler puts this file wherever it is needed.
 */
export function programsFolder(): string {
  let folder = dirname(FILE);
  while (!existsSync(join(folder, "gateway", `main${extname(FILE)}`))) folder = dirname(folder);
  return folder;
}

/** Returns a program's file, such as `gateway/main`, which has the same extension as this one. */
export function runtimeProgramFile(name: string): string {
  return join(programsFolder(), `${name}${extname(FILE)}`);
}

/**
 * Returns a command for `/bin/sh` that raises the process's place on the kernel's list of what to end when memory is
 * full (https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html), then becomes `command`. By a shell,
 * because once Node runs its file in /proc is root's alone.
 *
 * @param score from 0 to 1,000: the highest goes first
 */
export function preferOomKill(score: number, command: readonly string[]): [string, ...string[]] {
  const script = `{ echo ${score} >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", ...command];
}
