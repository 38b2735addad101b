import { stringify } from "yaml";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { environmentOf } from "../../../infra/gateway/environment.ts";
import { containerShape } from "../../../infra/gateway/host-gateway.ts";
import { gatewayImage } from "../../../infra/gateway/image.ts";
import { composeEnvironment, composeFile } from "../../../infra/host/compose.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { AGENT, HOST_NAMES } from "../../../runtime/contract/names.ts";
import { loadConfig } from "../../config.ts";
import type { StackConfigSource } from "../../config/source.ts";
import { type CommandOptions, openDeployed } from "../deployed/stack.ts";
import { readSettings } from "../settings.ts";

export interface ComposeOptions extends CommandOptions {
  /** Folder of `Pulumi.<stack>.yaml`. Default: from `Pulumi.yaml`. */
  settings?: string | undefined;
}

export interface ComposeResult {
  compose: string;
  environment: string;
  /** Names of the secrets to fill in. */
  secrets: string[];
  image: string;
  /** True if the image has to be built on the engine that runs it. */
  isBuilt: boolean;
  /** True if the admin pages stay closed until ADMIN_TOKEN is set too. */
  needsAdminToken: boolean;
}

function head(): string {
  return `# Made by ${commandsFor().tool("compose")}: change the stack's configuration, not this file.
# The secrets come from .env beside it (.env.example names them) or from the environment.
`;
}

/**
 * Returns a host stack's container as Docker Compose files. Writes and deploys nothing. Needs no backend, unless the
 * settings refer to an ESC environment.
 *
 * @throws StewardError `stack_not_host`, `stack_config_invalid`; BuildFailure `settings_missing`
 */
export async function compose(stack: string, options: ComposeOptions = {}): Promise<ComposeResult> {
  const source = await sourceOf(stack, options);
  if (source.values["steward:target"] === "serverless") {
    const text = `Docker Compose runs a host stack, and steward:target of ${stack} is serverless.`;
    throw new StewardError("stack_not_host", text);
  }
  const config = loadConfig(source);
  if (config.target !== "host") throw new StewardError("stack_not_host");
  const { environmentName = stack } = config;
  const { secrets, variables: given } = environmentOf("host", { ...config, environmentName });
  // The values from a settings file are plain strings.
  const variables = given as Record<string, string>;
  const named = (await gatewayImage(config, Promise.resolve()).checked) as string | undefined;
  const image = named ?? `${AGENT}:${(await buildBundle()).container.hash}`;
  const directory = config.dataDirectory;
  const names = Object.keys(secrets).sort();
  const file = composeFile({
    shape: containerShape(config, HOST_NAMES),
    image,
    data: directory === undefined ? { volumeName: HOST_NAMES.volume } : { directory },
    variables,
    secrets: names,
  });
  return {
    compose: `${head()}${stringify(file)}`,
    environment: composeEnvironment({ secrets: names, variables }),
    secrets: names,
    image,
    isBuilt: named === undefined,
    needsAdminToken: !names.includes("ADMIN_TOKEN") && variables["EDGE_ACCESS_AUD"] === undefined,
  };
}

/** Reads the settings file, or the CLI's values if the file refers to ESC environments. */
async function sourceOf(stack: string, options: ComposeOptions): Promise<StackConfigSource> {
  const stored = await readSettings(options.settings, stack, options.workDir);
  if (!stored.hasEnvironment) return stored;
  const { config } = await openDeployed(stack, { ...options, runsProgram: false });
  return config();
}
