import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { startCommand } from "./options.ts";
import { stackVariables } from "./stack.ts";
import type { World } from "./world.ts";

/**
 * Writes a shell file with variables. After `. .steward/env`, `pulumi … -s rehearsal` works in the checkout. The
 * file's mode is 0600, because it contains the stack's passphrase.
 *
 * @returns path of the file, relative to the working folder
 */
export async function writeEnvironment(
  folder: string,
  { engine, dir, settings }: Pick<World, "engine" | "dir" | "settings">,
): Promise<string> {
  const { PATH: _, ...own } = engine.env;
  const first = [path.dirname(engine.cli), path.dirname(process.execPath)];
  const variables = {
    ...own,
    ...stackVariables({ dir, passphrase: settings.passphrase }),
    // The stack suggests this command if the emulated account is not running.
    STEWARD_REHEARSED_BY: startCommand({ dir: folder, target: path.basename(dir) }),
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const file = path.join(folder, "env");
  await writeFile(
    `${file}.new`,
    [...lines, `export PATH=${quoted(first.join(path.delimiter))}:"$PATH"`, ""].join("\n"),
    {
      mode: 0o600,
    },
  );
  await rename(`${file}.new`, file);
  return path.relative(process.cwd(), file);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
