import { existsSync } from "node:fs";
import path from "node:path";
import type { ConfigMap, Stack } from "@pulumi/pulumi/automation/index.js";
import { buildBundle } from "../infra/bundle/bundle.ts";
import { requireDocker } from "../infra/shell/docker.ts";
import type { Target } from "../infra/gateway/args.ts";
import { prepareBaseImage } from "./base-image.ts";
import { startCloud, type Cloud } from "./cloud.ts";
import { LIMITS } from "./cloudflare/index.ts";
import { ensureEngine, type Engine } from "./engine/index.ts";
import { refuseForeignHostStack } from "./host-guard.ts";
import { endStrayProcesses, watchStrayProcesses } from "./stray-processes.ts";
import type { RehearsalOptions } from "./options.ts";
import type { RunStep } from "./progress.ts";
import { startPlatforms, type Platforms } from "./platforms.ts";
import { bridgeAddress, chooseContainerSetup, previousContainerMode } from "./sandbox.ts";
import { readRehearsalSettings, type RehearsalSettings } from "./settings.ts";
import { hostConfig, OPERATOR, serverlessConfig } from "./stack-config.ts";
import { configure, previousStandInHost, hasResources, openStack } from "./stack.ts";

/** A rehearsed stack and everything around it. */
export interface World {
  stack: Stack;
  dir: string;
  engine: Engine;
  settings: RehearsalSettings;
  platforms: Platforms;
  /** Readable description of how the container runs. */
  sandbox: string;
  /** Features that the emulated cloud does not model; empty without an emulation. */
  limits: readonly string[];
  /** The emulated cloud; absent for a host stack. */
  cloud?: Cloud;
  /** Returns headers that authenticate the operator. `audience` is an output of the stack. */
  signIn(audience: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

type Place = Pick<RehearsalOptions, "dir" | "sandbox">;

export interface WorldOptions {
  /** Default: without a report. */
  step?: RunStep;
  /** Delay between two words of the stand-in model, in milliseconds. Default: none. */
  wordMs?: number;
}

interface SharedWorld extends Required<WorldOptions> {
  dir: string;
  settings: RehearsalSettings;
  engine: Engine;
  log: (line: string) => void;
  /** Cleanup functions. They run in reverse order, so that each part closes before its dependencies. */
  ends: (() => Promise<void>)[];
}

export function openWorld(
  target: Target,
  options: Place,
  log: (line: string) => void,
  more: WorldOptions = {},
): Promise<World> {
  return withSharedWorld(target, options, { log, ...more }, (shared) =>
    target === "host" ? openHost(shared) : openServerless(shared, options),
  );
}

/** Destroys a rehearsed stack and the content of its bucket. */
export async function destroyWorld(
  target: Target,
  options: Place,
  log: (line: string) => void,
): Promise<void> {
  // A stack without resources needs no engine or provider.
  if (!(await hasResources(path.resolve(options.dir, target)))) {
    endStrayProcesses(path.resolve(options.dir, target));
    return;
  }
  const close = await withSharedWorld(target, options, { log }, async (shared) => {
    const { dir, settings, ends } = shared;
    const standInHost = (await previousStandInHost(dir)) ?? "127.0.0.1";
    const platforms = await startPlatforms({ settings, dir, hostname: standInHost, realModel: false });
    ends.push(() => platforms.close());
    const stack = await openStack({ ...shared, passphrase: settings.passphrase });
    if (target === "serverless") {
      const containers = await previousContainerMode(dir, standInHost);
      const cloud = await startCloud({
        dir,
        settings,
        containers,
        containerHost: standInHost,
        log: () => {},
      });
      ends.push(() => cloud.close());
    }
    await stack.destroy({ color: "never", showSecrets: false });
    return () => end(ends);
  });
  await close();
}

/** Prepares a {@link SharedWorld} and passes it to `open`. Cleans up if `open` fails. */
async function withSharedWorld<Result>(
  target: Target,
  options: Place,
  { log, step = (_, work) => work(), wordMs = 0 }: WorldOptions & Pick<SharedWorld, "log">,
  open: (shared: SharedWorld) => Promise<Result>,
): Promise<Result> {
  const dir = path.resolve(options.dir, target);
  // End an engine that outlived a killed rehearsal; it would write to the stack's state.
  endStrayProcesses(dir);
  const settings = await readRehearsalSettings(dir);
  const engine = await step("Preparing Pulumi's engine", () =>
    ensureEngine({ docker: target === "host", log }),
  );
  const ends: SharedWorld["ends"] = [watchStrayProcesses(dir)];
  try {
    return await open({ dir, settings, engine, log, step, wordMs, ends });
  } catch (error) {
    await end(ends);
    throw error;
  }
}

async function openServerless(shared: SharedWorld, options: Place): Promise<World> {
  const { dir, settings, log, step, ends } = shared;
  const setup = await step("Building the bundle and what runs it", async () =>
    chooseContainerSetup({ choice: options.sandbox, bundle: await buildBundle(), dir, log }),
  );
  const { platforms, cloud } = await step("Starting the platforms and the cloud", async () => {
    const platforms = await openPlatforms(shared, setup.standInHost);
    const cloud: Cloud = await startCloud({
      dir,
      settings,
      containers: setup.mode,
      containerHost: setup.standInHost,
      log: () => {},
    });
    ends.push(() => cloud.close());
    return { platforms, cloud };
  });
  const { apiUrl, origin, containerOrigin, identity } = cloud;
  const endpoints = { ...platforms.endpoints, worker: containerOrigin };
  const config = serverlessConfig({ settings, endpoints, apiUrl, origin, teamOrigin: identity.url });
  return {
    ...(await openConfigured(shared, config)),
    platforms,
    sandbox: setup.description,
    limits: LIMITS,
    cloud,
    signIn: async (audience) => ({
      cookie: `CF_Authorization=${await identity.issue({ aud: audience, email: OPERATOR })}`,
    }),
  };
}

async function openHost(shared: SharedWorld): Promise<World> {
  const { dir, settings, log, step } = shared;
  const { version } = await requireDocker();
  if (!existsSync(path.join(dir, "state"))) await refuseForeignHostStack();
  await step("Preparing the base image", () => prepareBaseImage({ log }));
  const platforms = await step("Starting the platforms", async () =>
    openPlatforms(shared, await bridgeAddress()),
  );
  return {
    ...(await openConfigured(shared, hostConfig({ settings, endpoints: platforms.endpoints }))),
    platforms,
    sandbox: `a container on Docker ${version}`,
    limits: [],
    signIn: async () => ({ authorization: `Bearer ${settings.secrets.adminToken}` }),
  };
}

async function openPlatforms(shared: SharedWorld, hostname: string): Promise<Platforms> {
  const { dir, settings, wordMs, ends } = shared;
  const realModel = modelKey() !== undefined;
  const platforms = await startPlatforms({ settings, dir, hostname, realModel, wordMs });
  ends.push(() => platforms.close());
  return platforms;
}

async function openConfigured(shared: SharedWorld, config: ConfigMap) {
  const { dir, settings, engine, ends } = shared;
  const stack = await openStack({ ...shared, passphrase: settings.passphrase });
  const key = modelKey();
  await configure(stack, engine, config, key === undefined ? {} : { "steward:anthropicApiKey": key });
  return { stack, dir, engine, settings, close: () => end(ends) };
}

function modelKey(): string | undefined {
  return process.env["ANTHROPIC_API_KEY"] || undefined;
}

async function end(ends: SharedWorld["ends"]): Promise<void> {
  for (const one of ends.splice(0).toReversed()) await one();
}
