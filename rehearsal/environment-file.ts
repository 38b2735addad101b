import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { startCommand } from "./options.ts";
import { stackVariables } from "./stack.ts";
import type { World } from "./world.ts";

/**
 * Writes a file to source in a shell (`. .steward/env`), so that `pulumi … -s rehearsal` works in the checkout. Mode
 * 0600, because it contains the state's passphrase.
 *
 * @returns the file's path, relative to the working folder
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
    // The stack prints this command if its emulated account is not running.
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
