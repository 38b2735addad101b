import { existsSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_FILE, RESTORE_MARKER } from "../contract/names.ts";
import { createRedactor } from "../shared/redact.ts";
import { AWAIT_RESTORE_VARIABLE } from "../contract/variables.ts";
import { fileVersion } from "../process/files.ts";
import { fatalReport } from "../process/stop.ts";
import { readProcessSettings } from "../process/settings.ts";
import { startChild } from "./child.ts";
import { gatewayCommand, gatewayEnvironment } from "./gateway-command.ts";
import { printError } from "../shared/terminal.ts";

// Restored files must not be readable by other users.
process.umask(0o077);
try {
  // 1. Read the environment. If no control token is configured, use a random one, so that the control API refuses
  // every request.
  const settings = readProcessSettings(process.env);
  const controlToken = settings.controlToken ?? (await randomToken());

  // 2. Start the gateway before anything else loads, unless its data must be restored first.
  const { home, gatewayPort } = settings;
  const command = gatewayCommand();
  const environment = gatewayEnvironment({ environment: process.env, controlToken, home, gatewayPort });
  const waits = process.env[AWAIT_RESTORE_VARIABLE] === "true" || existsSync(join(home, RESTORE_MARKER));
  const start = () => ({
    configVersion: fileVersion(join(home, CONFIG_FILE)),
    child: startChild({ command, environment }),
  });
  const started = waits ? undefined : start();

  // 3. Load the supervisor while the gateway starts.
  const { supervise } = await import("./supervise.ts");
  await supervise({ settings, controlToken, command, ...(started && { started }) });
} catch (error) {
  printError(fatalReport(error, createRedactor(process.env)));
  process.exitCode = 1;
}

/**
 * Returns a random token. Loads `node:crypto` on demand, because the gateway's start waits for every module that this
 * file imports.
 */
async function randomToken(): Promise<string> {
  // Not import(): in the bundle, it would not provide the module's named exports.
  const { randomBytes } = process.getBuiltinModule("node:crypto");
  return randomBytes(32).toString("hex");
}
