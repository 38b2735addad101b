import type { Command } from "commander";
import type { CommandContext, JsonOption } from "./context.ts";
import { askReady } from "./gateway.ts";

/** `steward health`: exit code 0 while the gateway is ready, else 1. */
export function addHealthCommand(program: Command, context: CommandContext): void {
  program
    .command("health")
    .description("whether the gateway is ready: exit code 0 or 1")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const { url, ready, version } = await askReady(context);
      const text = ready ? `Ready at ${url}, version ${version}` : `No answer at ${url}`;
      context.output.answer(json, { ready, url, ...(version && { version }) }, text);
      if (!ready) context.setExitCode(1);
    });
}
