/**
 * `npm run compose`: the host stack's container as a file for Docker Compose, from the same configuration. See
 * `npm run compose -- --help`.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Argument, Command } from "commander";
import { stringify } from "yaml";
import { buildBundle } from "../infra/build/bundle.ts";
import { composeEnvironment, composeFile } from "../infra/host/compose.ts";
import { AGENT, HOST_NAMES } from "../runtime/contract/names.ts";
import { readSettings } from "./compose/settings.ts";
import { loadConfig } from "./config.ts";
import { hostShape } from "./host-shape.ts";

const HEAD = `# Made by npm run compose: change the stack's configuration, not this file.
# The secrets come from .env beside it (.env.example names them) or from the environment.
`;

interface Options {
  settings: string;
  out: string | undefined;
}

function readOptions(argv: readonly string[]): Options & { stack: string } {
  const command = new Command("npm run compose --")
    .description("Writes compose.yaml and .env.example for a host stack. Nothing is deployed.")
    .addArgument(new Argument("<stack>", "the stack's name"))
    .option("--settings <folder>", "where Pulumi.<stack>.yaml lies", "stacks")
    .option("--out <folder>", "where the files go (default: .steward/compose/<stack>)")
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack = ""] = command.processedArgs as [string];
  return { stack, ...command.opts<Options>() };
}

async function main({
  stack,
  settings,
  out = path.join(".steward/compose", stack),
}: ReturnType<typeof readOptions>) {
  const config = loadConfig(await readSettings(settings, stack));
  if (config.target !== "host") {
    throw new Error(`the stack ${stack} is not a host's. Fix: name one with steward:target host`);
  }
  const { variables, secrets } = config.runtime;
  const image = config.image ?? `${AGENT}:${(await buildBundle()).container.hash}`;
  const directory = config.hostDataDirectory;
  const names = Object.keys(secrets).sort();
  const file = composeFile({
    shape: hostShape(config, HOST_NAMES),
    image,
    data: directory === undefined ? { volumeName: HOST_NAMES.volume } : { directory },
    variables,
    secrets: names,
  });
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, "compose.yaml"), `${HEAD}${stringify(file)}`);
  await writeFile(path.join(out, ".env.example"), composeEnvironment(names));
  return [
    `Wrote ${path.join(out, "compose.yaml")} and .env.example with ${names.length} secrets to fill in.`,
    ...(config.image === undefined ? [`npm run image builds ${image} on the engine that is to run it.`] : []),
  ].join("\n");
}

try {
  process.stdout.write(`${await main(readOptions(process.argv.slice(2)))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
