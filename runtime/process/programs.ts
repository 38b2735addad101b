import { existsSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(import.meta.url);

/**
 * Returns the folder of the programs: `runtime` in source, `/app` in the image. Searches upwards, since the bundler
 * may place this file in any folder.
 */
export function programsFolder(): string {
  let folder = dirname(FILE);
  while (!existsSync(join(folder, "gateway", `main${extname(FILE)}`))) folder = dirname(folder);
  return folder;
}

/**
 * Returns the path of a program's file.
 *
 * @param name path in the programs' folder, without extension, such as `gateway/main`
 */
export function runtimeProgramFile(name: string): string {
  return join(programsFolder(), `${name}${extname(FILE)}`);
}

/**
 * Wraps `command` in a shell that raises its own out-of-memory kill priority before it runs the command
 * (https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html). Without the shell, a running Node process
 * may need root rights to raise its priority.
 *
 * @param score From 0 to 1,000. The kernel kills the process with the highest score first.
 */
export function preferOomKill(score: number, command: readonly string[]): [string, ...string[]] {
  const script = `{ echo ${score} >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", ...command];
}
