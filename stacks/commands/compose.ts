/**
 * `npm run compose`: the host stack's container as a file for Docker Compose, from the same configuration. See
 * `npm run compose -- --help`.
 */
import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Argument } from "commander";
import { stringify } from "yaml";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { environmentOf } from "../../infra/gateway/environment.ts";
import { shape } from "../../infra/gateway/host-gateway.ts";
import { namedImage } from "../../infra/gateway/image.ts";
import { composeEnvironment, composeFile } from "../../infra/host/compose.ts";
import { StewardError } from "../../runtime/contract/errors.ts";
import { AGENT, HOST_NAMES } from "../../runtime/contract/names.ts";
import { openDeployed } from "./deployed/stack.ts";
import { readSettings } from "./settings.ts";
import { loadConfig } from "../config.ts";
import type { ConfigSource } from "../config/source.ts";

const HEAD = `# Made by ${commandsFor().tool("compose")}: change the stack's configuration, not this file.
# The secrets come from .env beside it (.env.example names them) or from the environment.
`;

const SCRIPT = commandLine("compose");

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Writes compose.yaml and .env.example for a host stack. Nothing is deployed.",
  )
    .addArgument(new Argument("<stack>", "the stack's name"))
    .option("--settings <folder>", "where Pulumi.<stack>.yaml is (default: as Pulumi.yaml says)")
    .option("--out <folder>", "where the files go (default: .steward/compose/<stack>)")
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const words = command.opts<{ settings?: string; out?: string }>();
  const { settings, out = path.join(".steward/compose", stack) } = words;
  const source = await sourceOf(settings, stack);
  if (source.values["steward:target"] === "serverless") {
    const text = `Docker Compose runs a host stack, and steward:target of ${stack} is serverless.`;
    throw new StewardError("stack_not_host", text);
  }
  const config = loadConfig(source);
  if (config.target !== "host") throw new StewardError("stack_not_host");
  const { environmentName = stack } = config;
  const { secrets, variables: given } = environmentOf("host", { ...config, environmentName });
  // Plain, since the settings are.
  const variables = given as Record<string, string>;
  // Plain too.
  const named = (await namedImage(config, Promise.resolve())?.checked) as string | undefined;
  const image = named ?? `${AGENT}:${(await buildBundle()).container.hash}`;
  const directory = config.dataDirectory;
  const names = Object.keys(secrets).sort();
  const file = composeFile({
    shape: shape(config, HOST_NAMES),
    image,
    data: directory === undefined ? { volumeName: HOST_NAMES.volume } : { directory },
    variables,
    secrets: names,
  });
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, "compose.yaml"), `${HEAD}${stringify(file)}`);
  await writeFile(path.join(out, ".env.example"), composeEnvironment({ secrets: names, variables }));
  say(`Wrote ${path.join(out, "compose.yaml")} and .env.example with ${names.length} secrets to fill in.\n`);
  if (!names.includes("ADMIN_TOKEN") && variables["EDGE_ACCESS_AUD"] === undefined)
    say("Set ADMIN_TOKEN in .env too, else the admin pages stay closed.\n");
  if (named === undefined)
    say(`${commandsFor().tool("image")} builds ${image} on the engine that is to run it.\n`);
  return 0;
}

/**
 * Returns the configuration of the settings file, which needs no backend. If the file refers to ESC environments,
 * returns the CLI's values instead, as the program gets them.
 */
async function sourceOf(settings: string | undefined, stack: string): Promise<ConfigSource> {
  const stored = await readSettings(settings, stack);
  if (!stored.hasEnvironment) return stored;
  const { config } = await openDeployed(stack, { runsProgram: false, log: () => undefined });
  return config();
}

await runCommand(SCRIPT, main);
