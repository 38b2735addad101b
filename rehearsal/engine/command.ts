import { basename, dirname } from "node:path";
import type { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import type { Engine } from "./types.ts";

const COMMANDS = new Map<string, Promise<PulumiCommand>>();

/** Returns the value for `LocalWorkspaceOptions.pulumiCommand`. Caches it, because creating it runs the CLI. */
export function engineCommand(engine: Engine): Promise<PulumiCommand> {
  const command = COMMANDS.get(engine.cli) ?? openCommand(engine);
  COMMANDS.set(engine.cli, command);
  return command;
}

async function openCommand(engine: Engine): Promise<PulumiCommand> {
  // Import lazily: the import takes most of a second.
  const { PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  const folder = dirname(engine.cli);
  // The API expects the folder above `bin`. If the CLI is not in a `bin` folder, the API searches PATH.
  return basename(folder) === "bin" ? PulumiCommand.get({ root: dirname(folder) }) : PulumiCommand.get();
}
