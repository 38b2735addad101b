import type { Command } from "commander";
import type { CommandContext, JsonOption } from "./context.ts";
import { askReady, readyText } from "./gateway.ts";

/** `steward health`: exit code 0 while the gateway is ready, else 1. */
export function addHealthCommand(program: Command, context: CommandContext): void {
  program
    .command("health")
    .description("whether the gateway is ready: exit code 0 or 1")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const answer = await askReady(context);
      const { url, ready, version } = answer;
      const text = readyText(answer).replace(/^./, (first) => first.toUpperCase());
      context.output.answer(json, { ready, url, ...(version && { version }) }, text);
      if (!ready) context.setExitCode(1);
    });
}
