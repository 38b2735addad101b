#!/usr/bin/env node
/** `npx steward-deploy <command>`: runs an operator's command from an installed release. */
import { pathToFileURL } from "node:url";
import { commandParser, runCommand, usageError } from "../../infra/shell/command.ts";
import { packageProgramFile } from "../../infra/shell/package.ts";
import { VERSION } from "../../runtime/contract/names.ts";

const SCRIPT = "npx steward-deploy";
const COMMANDS: Readonly<Record<string, string>> = {
  backup: "makes and checks backups of a deployed stack",
  compose: "writes a Docker Compose file for a host stack",
  drift: "shows what was changed or deleted outside of Pulumi",
  image: "builds the container's image",
  migrate: "renames a stack's Worker",
  orphans: "lists container applications left behind by deleted Workers, or removes one",
  policies: "runs the policy pack on a stack's preview",
  preview: "writes a stack's preview as Markdown",
  pulumi: "runs the Pulumi CLI with the Node.js that runs this command",
  rollout: "updates a stack: preview, backup, update, probe, rollback on failure",
  "slack-manifest": "writes the manifest of a stack's Slack app",
  upgrade: "upgrades a stack to a newer version of this package, with rollback on failure",
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
  commandParser(
    SCRIPT,
    "Manages deployed stacks: rollouts, backups, upgrades and more. Add --help to a command to see its options.",
  )
    .argument("<command>")
    .argument("[words...]")
    .version(VERSION)
    .addHelpText("after", `\nCommands:\n${list.join("\n")}`)
    .parse(argv, { from: "user" });
  throw usageError(`unknown command ${given}`);
}
