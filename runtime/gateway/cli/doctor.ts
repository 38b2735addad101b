import type { Command } from "commander";
import { examine } from "../doctor/doctor.ts";
import type { Finding } from "../doctor/finding.ts";
import { mend } from "../doctor/fix.ts";
import type { CommandContext, JsonOption } from "./context.ts";
import { askGateway } from "./gateway.ts";

/** `steward doctor [--fix]`: exit code 1 while a problem remains. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .description("looks for what is wrong; exit code 1 while a problem remains")
    .option("--fix", "mend what can be mended without losing anything; a copy of the config is kept")
    .option("--json", "as JSON")
    .action(async ({ json, fix }: JsonOption & { fix?: boolean }) => {
      const changes = fix ? mend(context, context.clock()) : [];
      const findings = await examine(context, await askGateway(context));
      const healthy = findings.every(({ state }) => state !== "problem");
      const lines = [...changes.map((change) => `mended: ${change}`), ...findings.map(findingText)];
      context.output.answer(json, { healthy, findings, changes }, lines.join("\n"));
      if (!healthy) context.setExitCode(1);
    });
}

function findingText({ check, state, detail, code, fix }: Finding): string {
  const head = `${state.padEnd(7)}  ${check}: ${detail}`;
  return code === undefined ? head : `${head}\n         Fix [${code}]: ${fix}`;
}
