/** Implements `npm run image`, which builds or pulls the container image. */
import { verifiedImage } from "../registry/verified.ts";
import { commandParser, runCommand, type CommandOutput } from "../shell/command.ts";
import { docker } from "../shell/docker.ts";
import { commandLine } from "../shell/package.ts";
import { buildBundle } from "./bundle.ts";
import { stewardImage } from "./image.ts";
import { readBuildRecord } from "./released.ts";
import { printError } from "../../runtime/shared/terminal.ts";

const SCRIPT = commandLine("image");

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const { published } = commandParser(
    SCRIPT,
    "Builds the container image on the Docker engine (DOCKER_HOST), and prints its name as the last line.",
  )
    .option("--published", "pull the image that was published with the package, if there is one", false)
    .parse(argv, { from: "user" })
    .opts<{ published: boolean }>();
  say(`${(published && (await pullPublished())) || (await buildImage())}\n`);
  return 0;
}

async function buildImage(): Promise<string> {
  return (await stewardImage(await buildBundle(), (line) => printError(`${line}\n`))).image;
}

/** Verifies the published image's signature and pulls the image. Returns its name with the digest. */
async function pullPublished(): Promise<string | undefined> {
  const { image, container: bundle } = readBuildRecord() ?? {};
  if (image === undefined) return undefined;
  const name = await verifiedImage({ image: image.name, signer: image.signer, bundle });
  await docker(["pull", "--quiet", name]);
  return name;
}

await runCommand(SCRIPT, main);
