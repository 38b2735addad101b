import { existsSync } from "node:fs";
import path from "node:path";
import { buildBundle } from "../../infra/build/bundle.ts";
import { requireDocker } from "../../infra/build/docker.ts";
import { startCloud, type Cloud } from "../../infra/rehearsal/cloud.ts";
import { LIMITS } from "../../infra/rehearsal/cloudflare/index.ts";
import { ensureEngine, type Engine } from "../../infra/rehearsal/engine/index.ts";
import { endLeftovers } from "../../infra/rehearsal/leftovers.ts";
import { startPlatforms, type Platforms } from "../../infra/rehearsal/platforms.ts";
import { readSettings, type RehearsalSettings } from "../../infra/rehearsal/settings.ts";
import type { Target } from "../config/schema.ts";
import { hostConfig, OPERATOR, serverlessConfig } from "./config.ts";
import { refuseForeignHostStack } from "./host-guard.ts";
import type { RehearsalOptions } from "./options.ts";
import { bridgeAddress, chooseSandbox } from "./sandbox.ts";
import { openStack, type OpenStack } from "./stack.ts";

// With the program, since the stand-ins may listen elsewhere than at the last update.
const DESTROY = { color: "never", runProgram: true } as const;
/** The URNs of a stack's buckets, as a pattern. */
const BUCKETS = "**cloudflare:index/r2Bucket:R2Bucket::*";

/** Everything around a rehearsed stack: engine, platforms, and for the serverless target the cloud. */
export interface World extends OpenStack {
  engine: Engine;
  settings: RehearsalSettings;
  platforms: Platforms;
  /** How the container runs; for people. */
  sandbox: string;
  /** What the rehearsal's cloud does not model; empty where nothing is emulated. */
  limits: readonly string[];
  /** Headers that sign the operator in; `audience` is the stack's output. */
  signIn(audience: string): Promise<Record<string, string>>;
  /** Destroys the stack, with what has gathered in its emulated bucket. */
  destroy(): Promise<void>;
}

/** Starts the world of this target. What was started ends again when a later step fails. */
export async function openWorld(
  target: Target,
  options: RehearsalOptions,
  log: (line: string) => void,
): Promise<World> {
  const dir = path.resolve(options.dir, target);
  // An engine that outlived a killed rehearsal still writes to the stack's state.
  endLeftovers(dir);
  const settings = await readSettings(dir);
  const modelKey = process.env["ANTHROPIC_API_KEY"] || undefined;
  const engine = await ensureEngine({ docker: target === "host", log });
  const ends: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };

  const platformsAt = async (hostname: string): Promise<Platforms> => {
    const platforms = await startPlatforms({ settings, dir, hostname, realModel: modelKey !== undefined });
    ends.push(() => platforms.close());
    return platforms;
  };
  const open = async (
    config: Parameters<typeof openStack>[0]["config"],
    providers: Parameters<typeof openStack>[0]["providers"],
  ): Promise<OpenStack["stack"]> => {
    const { passphrase } = settings;
    const privateConfig = modelKey === undefined ? {} : { "steward:anthropicApiKey": modelKey };
    const opened = await openStack({
      engine,
      name: "rehearsal",
      dir,
      passphrase,
      providers,
      config,
      privateConfig,
      log,
    });
    ends.push(() => opened.close());
    return opened.stack;
  };

  const serverless = async (): Promise<World> => {
    const bundle = await buildBundle();
    const sandbox = await chooseSandbox({ choice: options.sandbox, bundle, dir, log });
    const platforms = await platformsAt(sandbox.standInHost);
    const cloud: Cloud = await startCloud({ dir, settings, containers: sandbox.mode, log: () => {} });
    ends.push(() => cloud.close());
    const { apiUrl, origin, identity } = cloud;
    const { endpoints } = platforms;
    const config = { settings, endpoints, apiUrl, origin, teamOrigin: identity.url };
    const stack = await open(serverlessConfig(config), ["cloudflare", "command"]);
    const signIn = async (audience: string): Promise<Record<string, string>> => ({
      cookie: `CF_Authorization=${await identity.issue({ aud: audience, email: OPERATOR })}`,
    });
    return {
      stack,
      close,
      engine,
      settings,
      platforms,
      sandbox: sandbox.description,
      limits: LIMITS,
      signIn,
      destroy: async () => {
        // Its Worker writes to the bucket for as long as it is there.
        await stack.destroy({ ...DESTROY, exclude: [BUCKETS] });
        await cloud.runner.emptyBuckets();
        await stack.destroy(DESTROY);
      },
    };
  };
  const host = async (): Promise<World> => {
    const { version } = await requireDocker();
    if (!existsSync(path.join(dir, "state"))) await refuseForeignHostStack();
    const platforms = await platformsAt(await bridgeAddress());
    const stack = await open(hostConfig({ settings, endpoints: platforms.endpoints }), ["command"]);
    const signIn = async () => ({ authorization: `Bearer ${settings.secrets.adminToken}` });
    const sandbox = `a container on Docker ${version}`;
    const destroy = async () => void (await stack.destroy(DESTROY));
    return { stack, close, engine, settings, platforms, sandbox, limits: [], signIn, destroy };
  };
  try {
    return await (target === "host" ? host() : serverless());
  } catch (error) {
    await close();
    throw error;
  }
}
