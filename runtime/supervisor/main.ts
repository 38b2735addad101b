import { existsSync } from "node:fs";
import { join } from "node:path";
import { RESTORE_MARKER } from "../contract/names.ts";
import { createRedactor } from "../shared/redact.ts";
import { AWAIT_RESTORE_VARIABLE } from "../contract/variables.ts";
import { fatalReport } from "../process/stop.ts";
import { readProcessSettings } from "../process/settings.ts";
import { startChild } from "./child.ts";
import { gatewayCommand, gatewayEnvironment } from "./gateway-command.ts";
import { printError } from "../shared/terminal.ts";

// Restored files must not be readable by other users.
process.umask(0o077);
try {
  // 1. Environment. Without a given token a random one, so that the API refuses everyone.
  const settings = readProcessSettings(process.env);
  const controlToken = settings.controlToken ?? (await randomToken());

  // 2. Gateway. Before the rest is even loaded, since everything waits for it, unless its data comes first.
  const { home, gatewayPort } = settings;
  const command = gatewayCommand();
  const environment = gatewayEnvironment({ environment: process.env, controlToken, home, gatewayPort });
  const waits = process.env[AWAIT_RESTORE_VARIABLE] === "true" || existsSync(join(home, RESTORE_MARKER));
  const child = waits ? undefined : startChild({ command, environment });

  // 3. Supervisor and its control API.
  const { supervise } = await import("./supervise.ts");
  await supervise({ settings, controlToken, command, ...(child && { child }) });
} catch (error) {
  printError(fatalReport(error, createRedactor(process.env)));
  process.exitCode = 1;
}

/** Node's cryptography is loaded only for it: the gateway's start waits for every module that this file names. */
async function randomToken(): Promise<string> {
  // Not by import(): in the bundle Node's modules have no names of their own then.
  const { randomBytes } = process.getBuiltinModule("node:crypto");
  return randomBytes(32).toString("hex");
}
