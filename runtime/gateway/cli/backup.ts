import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { CommandContext, JsonOption } from "./context.ts";
import { table } from "./output.ts";

/** `steward backup list`. */
export function addBackupCommands(program: Command, { settings, output }: CommandContext): void {
  const backup = program.command("backup").description("copies of the data directory");
  backup
    .command("list")
    .description("the backups of this data directory, newest first")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const backups = listBackups(join(settings.home, "backups"));
      const cells = backups.map(({ name, bytes, at }) => [name, String(bytes), at]);
      const text = backups.length === 0 ? "No backups." : table(["Name", "Bytes", "Made"], cells);
      output.answer(json, { backups }, text);
    });
}

function listBackups(directory: string): { name: string; bytes: number; at: string }[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return names
    .map((name) => ({ name, stats: statSync(join(directory, name), { throwIfNoEntry: false }) }))
    .flatMap(({ name, stats }) =>
      stats?.isFile() ? [{ name, bytes: stats.size, at: stats.mtime.toISOString() }] : [],
    )
    .sort((a, b) => (a.at < b.at ? 1 : -1));
}
