/** `npm run image`: builds the container image of this checkout. See `npm run image -- --help`. */
import { commandParser, runCommand, type CommandOutput } from "../shell/command.ts";
import { commandLine } from "../shell/package.ts";
import { buildBundle } from "./bundle.ts";
import { stewardImage } from "./image.ts";
import { printError } from "../../runtime/shared/terminal.ts";

const SCRIPT = commandLine("image");

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  commandParser(
    SCRIPT,
    "Builds the container image on the Docker engine (DOCKER_HOST), and prints its name as the last line.",
  ).parse(argv, { from: "user" });
  const { image } = await stewardImage(await buildBundle(), (line) => printError(`${line}\n`));
  say(`${image}\n`);
  return 0;
}

await runCommand(SCRIPT, main);
