import { createRedactor } from "../shared/redact.ts";
import { readOwnEnvironment } from "../process/environment.ts";
import { fatalReport, onStopRequest } from "../process/stop.ts";
import { reduceMemoryUse } from "../process/memory.ts";
import { startGateway } from "./start.ts";
import { print, printError } from "../shared/terminal.ts";

// Make files in the data directory private, including those that the database creates.
process.umask(0o077);
const environment = readOwnEnvironment();
try {
  const gateway = await startGateway({
    environment,
    clock: Date.now,
    write: (line) => print(`${line}\n`),
  });
  reduceMemoryUse();
  process.on("SIGHUP", () => void gateway.reload());
  onStopRequest(environment, async (cause) => {
    // If this gateway was abandoned, drop the answers in progress: the next gateway redoes them, so finishing them
    // here would send them twice.
    await gateway.close(cause === "abandoned" ? { graceMs: 0 } : {});
    if (cause === "asked") process.exit(0);
  });
} catch (error) {
  printError(fatalReport(error, createRedactor(environment)));
  process.exitCode = 1;
}
