import { copyFile, link, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { goProgram, type GoProgram } from "./build.ts";
import { replaceWhole } from "./plugins.ts";
import type { Engine } from "./types.ts";

/** The newest release of Pulumi's SDK module that includes the language host for Node. */
const HOST_VERSION = "3.60.0";
const LANGUAGE_HOST: GoProgram = {
  what: `the Pulumi language host ${HOST_VERSION}`,
  codePrefix: "engine",
  module: join(import.meta.dirname, "language"),
  command: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
  ldflags: `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${HOST_VERSION}`,
  place: `engine/language-nodejs-${HOST_VERSION}`,
};

/** With what a person types `pulumi`. */
export interface ByHand {
  variables: Record<string, string>;
  /** Folders that come first on PATH. */
  path: string[];
}

/**
 * Returns the environment for typing `pulumi` by hand on this engine, with a language host next to it. An engine that
 * was built from modules has none, so one is built into the cache.
 *
 * @throws BuildFailure `engine_go_missing`, `engine_build_failed`
 */
export async function typedByHand(
  engine: Engine,
  options: { log: (line: string) => void; env?: NodeJS.ProcessEnv },
): Promise<ByHand> {
  const { log, env = process.env } = options;
  const { PATH: _, ...variables } = engine.env;
  const node = dirname(process.execPath);
  if (engine.source === "path") return { variables, path: [dirname(engine.cli), node] };
  const host = await goProgram(LANGUAGE_HOST, { log, env });
  const own = dirname(engine.cli);
  const folder = join(dirname(own), "by-hand");
  const complete = join(folder, "bin");
  for (const name of await readdir(own)) await linkWhole(join(own, name), join(complete, name));
  await writeWhole(join(complete, basename(host)), hostText(host, join(own, "load-later.cjs")));
  await writeWhole(join(folder, "pulumi"), wrapperText(engine.cli, join(complete, basename(engine.cli))));
  return { variables, path: [folder, node] };
}

/**
 * Returns the script that runs `pulumi`. It hides the language host from a program that serves its own language runtime
 * (`--client`, the Automation API): the host is too old for policy packs, and the engine would ask it first.
 */
function wrapperText(cli: string, complete: string): string {
  return [
    "#!/bin/sh",
    `case " $* " in *" --client="*) exec '${cli}' "$@" ;; *) exec '${complete}' "$@" ;; esac`,
    "",
  ].join("\n");
}

/**
 * Returns the script that runs the language host, whose programs load the module `preloaded` first. An engine that is
 * killed does not end its language host, but the host's standard input ends with the engine, so a second process waits
 * for that.
 *
 * The host is not the one in the background: a shell lets what runs there ignore SIGINT, by which the engine ends its
 * host at the end of every command, and the engine would wait 5 s for it each time.
 */
function hostText(host: string, preloaded: string): string {
  return [
    "#!/bin/sh",
    "exec 3<&0",
    "{ cat <&3; kill $$; } > /dev/null 2>&1 &",
    `export NODE_OPTIONS="--require=\\"${preloaded}\\" $NODE_OPTIONS"`,
    `exec '${host}' "$@" < /dev/null 3<&-`,
    "",
  ].join("\n");
}

/**
 * Hard-links a file, or copies it if the target is on another disk. A symbolic link would not do: the engine resolves
 * it to find its own folder.
 */
async function linkWhole(from: string, to: string): Promise<void> {
  const [source, present] = await Promise.all([stat(from), stat(to).catch(() => undefined)]);
  if (present?.ino === source.ino || (present?.size === source.size && present.mtimeMs >= source.mtimeMs))
    return;
  await replaceWhole(to, (temporary) => link(from, temporary).catch(() => copyFile(from, temporary)));
}

async function writeWhole(file: string, text: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return;
  await replaceWhole(file, (temporary) => writeFile(temporary, text, { mode: 0o755 }));
}
