/** `npm run engine`: finds or builds the Pulumi engine for the rehearsal and the tests. */
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { prepareBaseImage } from "../base-image.ts";
import { ensureEngine } from "./index.ts";
import { printError } from "../../runtime/shared/terminal.ts";

const SCRIPT = "npm run engine --";

async function main(argv: string[], { say, report }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, "Finds or builds the Pulumi engine of the rehearsal and the tests.")
    .option("--docker", "the docker provider of the host stack too", false)
    .option("--base", "the base image of the container too, on the Docker engine", false)
    .option("--json", "print one JSON object", false)
    .parse(argv, { from: "user" });
  const { docker, base } = command.opts<{ docker: boolean; base: boolean }>();
  const log = (line: string): void => printError(`${line}\n`);

  const engine = await ensureEngine({ docker, log });
  const image = base ? (await prepareBaseImage({ log })).image : undefined;
  const official = Object.entries(engine.official).flatMap(([name, present]) => (present ? [name] : []));
  say(`pulumi ${engine.version} (${engine.source}) ${engine.cli}\n`);
  say(`official provider plugins: ${official.join(", ") || "none"}\n`);
  if (image !== undefined) say(`base image: ${image}\n`);
  say(`found in ${engine.ms} ms\n`);
  report({ ...engine, ...(image !== undefined && { base: image }) });
  return 0;
}

await runCommand(SCRIPT, main);
