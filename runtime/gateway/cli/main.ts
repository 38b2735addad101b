import { Command } from "commander";
import { AGENT, VERSION } from "../../contract/names.ts";
import { createRedactor } from "../../contract/redact.ts";
import { readProcessSettings } from "../../process/settings.ts";
import { pairingStores } from "../pairing/stores.ts";
import { addConfigCommands } from "./config.ts";
import type { CommandContext } from "./context.ts";
import { processOutput } from "./output.ts";
import { addPairingCommands } from "./pairing.ts";
import { addStatusCommand } from "./status.ts";

// What a command writes is read by the gateway, and by nobody else.
process.umask(0o077);
const redact = createRedactor(process.env);
const output = processOutput({ stdout: process.stdout, stderr: process.stderr, redact });
try {
  const settings = readProcessSettings(process.env);
  const context: CommandContext = {
    environment: process.env,
    settings,
    stores: pairingStores({
      home: settings.home,
      clock: Date.now,
      onSetAside: ({ path, movedTo, problem }) =>
        output.warn(`${path} could not be read (${problem}). It was set aside as ${movedTo}.`),
    }),
    redact,
    output,
  };
  const program = new Command(AGENT)
    .description("Looks after a steward gateway, whether it is up or down.")
    .version(VERSION);
  addPairingCommands(program, context);
  addConfigCommands(program, context);
  addStatusCommand(program, context);
  await program.parseAsync();
} catch (error) {
  output.fail(process.argv.includes("--json"), error);
  process.exitCode = 1;
}
