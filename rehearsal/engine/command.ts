import { basename, dirname } from "node:path";
import type { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import type { Engine } from "./types.ts";

const COMMANDS = new Map<string, Promise<PulumiCommand>>();

/** The engine as the Automation API takes it: `LocalWorkspaceOptions.pulumiCommand`. Asks for its version once. */
export function engineCommand(engine: Engine): Promise<PulumiCommand> {
  const command = COMMANDS.get(engine.cli) ?? openCommand(engine);
  COMMANDS.set(engine.cli, command);
  return command;
}

async function openCommand(engine: Engine): Promise<PulumiCommand> {
  // Loaded late: the package takes most of a second, and looking for an engine doesn't need it.
  const { PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  const folder = dirname(engine.cli);
  // The API takes the folder above `bin`, which every known way to install the CLI has. Otherwise PATH decides.
  return basename(folder) === "bin" ? PulumiCommand.get({ root: dirname(folder) }) : PulumiCommand.get();
}
