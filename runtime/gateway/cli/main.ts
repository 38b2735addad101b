import { gatewayVariables } from "../../contract/variables.ts";
import { createRedactor } from "../../shared/redact.ts";
import { readOwnEnvironment } from "../../process/environment.ts";
import { readProcessSettings } from "../../process/settings.ts";
import { processOutput } from "./context.ts";
import { REQUEST_FLAG } from "../../operations/reply.ts";
import { statSync } from "node:fs";
import { text } from "node:stream/consumers";
import { runCommandLine, runRequest } from "./program.ts";

/**
 * Becomes the user of the data directory, if this is root's process: so is that of `docker exec` where each chat has a user
 * of its own. What it wrote would else be closed to the gateway.
 */
function becomeOwnerOf(home: string): void {
  const { uid = 0, gid = 0 } = statSync(home, { throwIfNoEntry: false }) ?? {};
  if (process.getuid?.() !== 0 || uid === 0) return;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

// Only the gateway reads what a command writes.
process.umask(0o077);
const args = process.argv.slice(2);
const received = readOwnEnvironment();
const redact = createRedactor(received);
const output = processOutput({ stdout: process.stdout, stderr: process.stderr, redact });
try {
  const settings = readProcessSettings(received);
  becomeOwnerOf(settings.home);
  const setExitCode = (code: number): void => void (process.exitCode = code);
  // A config is valid by what the gateway gets, and not by what else this shell has.
  const environment = gatewayVariables(received);
  const context = { environment, settings, redact, output, clock: Date.now, setExitCode };
  const isRequest = args.length === 1 && args[0] === REQUEST_FLAG;
  await (isRequest ? runRequest(context, await text(process.stdin)) : runCommandLine(context, args));
} catch (error) {
  output.fail(args.includes("--json"), error);
  process.exitCode = 1;
}
