#!/usr/bin/env node
/** `npx steward-deploy <command>`: runs an operator's command from an installed release. */
import { pathToFileURL } from "node:url";
import { commandParser, runCommand, usageError } from "../../infra/shell/command.ts";
import { packageProgramFile } from "../../infra/shell/package.ts";
import { VERSION } from "../../runtime/contract/names.ts";

const SCRIPT = "npx steward-deploy";
const COMMANDS: Readonly<Record<string, string>> = {
  backup: "makes and checks backups of a deployed stack",
  compose: "writes the host stack's container for Docker Compose",
  drift: "tells what of a stack is no longer as it was deployed",
  image: "builds the container's image",
  migrate: "gives a stack's Worker another name",
  orphans: "finds container applications that deleted Workers left, and removes one",
  policies: "runs the policy pack on a stack's preview",
  preview: "writes a stack's preview as Markdown",
  pulumi: "runs the Pulumi CLI under this Node",
  rollout: "updates a stack as a pipeline may: preview, backup, update, probe, and back if it fails",
  "slack-manifest": "writes the Slack app of a stack",
  upgrade: "takes a stack to a newer version of this package, and back if it fails",
};

const [, , given = ""] = process.argv;
if (Object.hasOwn(COMMANDS, given)) {
  process.argv.splice(2, 1);
  const file = given === "image" ? "infra/bundle/main" : `stacks/commands/${given}`;
  await import(pathToFileURL(packageProgramFile(file)).href);
} else {
  await runCommand(SCRIPT, refuse);
}

async function refuse(argv: string[]): Promise<number> {
  const list = Object.entries(COMMANDS).map(([name, told]) => `  ${name.padEnd(16)}${told}`);
  commandParser(SCRIPT, "Runs an operator's command. Each explains itself with --help.")
    .argument("<command>")
    .argument("[words...]")
    .version(VERSION)
    .addHelpText("after", `\nCommands:\n${list.join("\n")}`)
    .parse(argv, { from: "user" });
  throw usageError(`there is no command ${given}`);
}
