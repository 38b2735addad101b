import { randomBytes } from "node:crypto";
import { createRedactor } from "../contract/redact.ts";
import { fatalReport } from "../process/fatal.ts";
import { createLog } from "../process/log.ts";
import { readProcessSettings } from "../process/settings.ts";
import { onStopRequest } from "../process/stop.ts";
import { createControl } from "./control.ts";
import { serveControl } from "./control-server.ts";
import { cliCommand, gatewayCommand } from "./gateway-command.ts";
import { createSupervisor } from "./supervisor.ts";

const CLOSE_MS = 500;

const redact = createRedactor(process.env);
const write = (line: string): void => void process.stdout.write(line);
try {
  // 1. Environment. Without a token handed over, one that nobody knows: the API then refuses everyone.
  const settings = readProcessSettings(process.env);
  const controlToken = settings.controlToken ?? randomBytes(32).toString("hex");
  const log = createLog({ name: "supervisor", level: settings.logLevel ?? "info", redact, write });
  if (settings.controlToken === undefined) log.warn("no control token: the control API refuses everyone");

  // 2. Gateway. First, since everything waits for it.
  const supervisor = createSupervisor({
    command: gatewayCommand(),
    cli: cliCommand(),
    environment: process.env,
    home: settings.home,
    gatewayPort: settings.gatewayPort,
    controlToken,
    log,
    onOutput: (line) => write(`${line}\n`),
    bootMs: performance.now(),
  });
  supervisor.start();

  // 3. Control API.
  const control = createControl(supervisor, controlToken, log);
  const server = await serveControl(control, settings.bind, settings.supervisorPort).catch(
    async (error: unknown) => {
      await supervisor.stop();
      throw error;
    },
  );
  log.info("control API ready", { port: server.port });
  onStopRequest(process.env, async () => {
    await supervisor.stop();
    await server.close(CLOSE_MS);
    process.exit(0);
  });
} catch (error) {
  process.stderr.write(fatalReport(error, redact));
  process.exitCode = 1;
}
