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
 * Switches from root to the owner of the data directory, because the gateway cannot read files that root owns.
 * `docker exec` runs as root if each chat has its own user.
 */
function becomeOwnerOf(home: string): void {
  const { uid = 0, gid = 0 } = statSync(home, { throwIfNoEntry: false }) ?? {};
  if (process.getuid?.() !== 0 || uid === 0) return;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

// Only the owner may read the files that a command writes.
process.umask(0o077);
const args = process.argv.slice(2);
const received = readOwnEnvironment();
const redact = createRedactor(received);
const output = processOutput({ stdout: process.stdout, stderr: process.stderr, redact });
try {
  const settings = readProcessSettings(received);
  becomeOwnerOf(settings.home);
  const setExitCode = (code: number): void => void (process.exitCode = code);
  // Give commands only the variables that the gateway has.
  const environment = gatewayVariables(received);
  const context = { environment, settings, redact, output, clock: Date.now, setExitCode };
  const isRequest = args.length === 1 && args[0] === REQUEST_FLAG;
  await (isRequest ? runRequest(context, await text(process.stdin)) : runCommandLine(context, args));
} catch (error) {
  output.fail(args.includes("--json"), error);
  process.exitCode = 1;
}
