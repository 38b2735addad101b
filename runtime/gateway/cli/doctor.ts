import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { mendConfig } from "../../contract/config/mend.ts";
import { readConfigText } from "../../contract/config/text.ts";
import { keepCopy, withConfigLock } from "../../process/config-file.ts";
import { writeFileAtomic } from "../../process/files.ts";
import { type DoctorOptions, examine, type Finding, mendRights } from "../doctor.ts";
import type { CommandContext, JsonOption } from "./context.ts";
import { askGateway } from "./gateway.ts";

/** `steward doctor [--fix]`: exit code 1 while a problem remains. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .description("looks for what is wrong; exit code 1 while a problem remains")
    .option("--fix", "fix what can be fixed without losing data; saves a copy of the config")
    .option("--json", "as JSON")
    .action(async ({ json, fix }: JsonOption & { fix?: boolean }) => {
      const changes = fix ? mend(context, context.clock()) : [];
      const findings = await examine(context, await askGateway(context));
      const healthy = findings.every(({ state }) => state !== "problem");
      const lines = [...changes.map((change) => `fixed: ${change}`), ...findings.map(findingText)];
      context.output.answer(json, { healthy, findings, changes }, lines.join("\n"));
      if (!healthy) context.setExitCode(1);
    });
}

function findingText({ check, state, detail, code, fix }: Finding): string {
  const head = `${state.padEnd(7)}  ${check}: ${detail}`;
  return code === undefined ? head : `${head}\n         Fix [${code}]: ${fix}`;
}

/**
 * Mends what can be mended without losing anything. Twice in a row changes nothing more.
 *
 * @returns one line a change.
 */
function mend(options: DoctorOptions, now: number): string[] {
  return [...mendFile(options, now), ...mendRights(options)];
}

/** All or nothing: what would still not be valid is not written. The file as it was is kept beside it. */
function mendFile({ settings, environment }: DoctorOptions, now: number): string[] {
  const path = settings.configPath;
  if (!existsSync(path)) return [];
  return withConfigLock(path, () => {
    const text = readFileSync(path, "utf8");
    const { value, result } = readConfigText(text, environment);
    if (result.ok || value === null) return [];
    const { value: mended, changes } = mendConfig(value);
    if (changes.length === 0) return [];
    const written = `${JSON.stringify(mended, null, 2)}\n`;
    if (!readConfigText(written, environment).result.ok) return [];
    const copy = keepCopy(path, text, now);
    writeFileAtomic(path, written);
    return [`config: saved the old file as ${copy}`, ...changes];
  });
}
