import { createLog } from "../shared/log.ts";
import { createRedactor } from "../shared/redact.ts";
import { AWAIT_RESTORE_VARIABLE } from "../contract/variables.ts";
import type { ProcessSettings } from "../process/settings.ts";
import { reduceMemoryUse } from "../process/memory.ts";
import { onStopRequest } from "../process/stop.ts";
import { startAfterRestore } from "./begin.ts";
import { serveControl } from "./control-server.ts";
import { createControl } from "./control.ts";
import { cliCommand, runningBundle } from "./gateway-command.ts";
import { createSupervisor, type StartedGateway } from "./supervisor.ts";
import { print } from "../shared/terminal.ts";

const CLOSE_MS = 500;

export interface SuperviseOptions {
  settings: ProcessSettings;
  controlToken: string;
  command: readonly [string, ...string[]];
  /** The gateway, already started; absent if its data must be restored first. */
  started?: StartedGateway;
}

/**
 * Supervises the gateway and serves the control API until this process is asked to end.
 *
 * @throws StewardError `inner_port_in_use` if another process uses the control API's port.
 */
export async function supervise({ settings, controlToken, ...gateway }: SuperviseOptions): Promise<void> {
  const redact = createRedactor(process.env);
  const write = (line: string): void => print(`${line}\n`);
  const log = createLog({ name: "supervisor", level: settings.logLevel ?? "info", redact, write });
  if (settings.controlToken === undefined) log.warn("no control token: the control API refuses everyone");
  const supervisor = createSupervisor({
    ...gateway,
    cli: cliCommand(),
    environment: process.env,
    home: settings.home,
    gatewayPort: settings.gatewayPort,
    controlToken,
    bundle: runningBundle(),
    log,
    onOutput: write,
    bootMs: performance.now(),
  });
  const awaitsData = process.env[AWAIT_RESTORE_VARIABLE] === "true";
  const begun = startAfterRestore({ supervisor, home: settings.home, awaitsData, log });

  const control = createControl(supervisor, controlToken, log);
  const server = await serveControl(control, settings.bind, settings.supervisorPort).catch(
    async (error: unknown) => {
      await supervisor.stop();
      throw error;
    },
  );
  // Register the stop handler before readiness is logged: a reader of the log may request a stop immediately.
  onStopRequest(process.env, async () => {
    await supervisor.stop();
    await server.close(CLOSE_MS);
    process.exit(0);
  });
  log.info("control API ready", { port: server.port });
  reduceMemoryUse();
  await begun;
}
