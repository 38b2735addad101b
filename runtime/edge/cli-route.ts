import type { Handler } from "hono";
import type { Log } from "../contract/log.ts";
import { readOperation, splitWords } from "../contract/operations.ts";
import { askToContinue, mayBeForged, type AccessVariables } from "./access.ts";
import { runBackupCommand } from "./backups/commands.ts";
import { operate } from "./operate.ts";
import type { Backups, Sandbox } from "./ports.ts";

/**
 * `GET /debug/cli?cmd=`: runs one line of the allow-list in the container, with the gateway up or down;
 * starts a stopped container. The line is checked before, so that a wrong one wakes nothing.
 */
export function debugCli(sandbox: Sandbox, backups: Backups, log: Log): Handler<AccessVariables> {
  return async function handleCli(context) {
    const command = context.req.query("cmd") ?? "";
    const words = splitWords(command);
    const operation = readOperation(words);
    if (operation.kind === "command" && operation.changes && mayBeForged(context.req.raw)) {
      return askToContinue(context);
    }
    const by = context.get("identity").name;
    log.info("operator runs a command", { by, command });
    const isBackup = operation.kind === "command" && operation.args[0] === "backup";
    const result = isBackup ? await runBackupCommand(backups, operation.args) : await operate(sandbox, words);
    // An answer out of a cache would stand for a command that was not run.
    context.header("cache-control", "no-store");
    return context.json({ command, ...result });
  };
}
