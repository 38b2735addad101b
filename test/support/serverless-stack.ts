import type { ConfigMap, PulumiFn } from "@pulumi/pulumi/automation/index.js";
import {
  accountAdmission,
  startFront,
  startIdentityGateway,
  type Front,
  type IdentityGateway,
} from "../../rehearsal/access/index.ts";
import type { ContainerMode } from "../../rehearsal/cloudflare/index.ts";
import { Hono } from "hono";
import { createCloudflareProvider } from "../../rehearsal/providers/cloudflare/provider.ts";
import { serveProvider } from "../../rehearsal/providers/serve.ts";
import { listen } from "../../rehearsal/standins/serve.ts";
import { ACCOUNT, startStage, TOKEN, type AccountOptions, type Stage } from "../rehearsal/support.ts";
import { program as stackProgram } from "../../stacks/program.ts";
import { cloudflareConfig, createTestStack, testEngine, type TestStack } from "./stack.ts";

/** Must never appear in plain text. */
export const MODEL_KEY = "sk-test-the-model-key-0123456789";
export const SIGNING_SECRET = "the-signing-secret-of-slack-0123";

/** Emulated Cloudflare account for stacks under the real Pulumi engine. */
export interface ServerlessStage {
  stage: Stage;
  identity: IdentityGateway;
  front: Front;
  /** Starts a local address for the Worker with this host name. */
  frontOf(hostname: string): Promise<Front>;
  config(): ConfigMap;
  /** Creates a stack. `config` is added to the complete configuration. */
  stack(options?: {
    name?: string;
    config?: ConfigMap;
    program?: PulumiFn;
    environment?: Record<string, string>;
  }): Promise<TestStack>;
  bare(options: { name: string; config: ConfigMap }): Promise<TestStack>;
  close(): Promise<void>;
}

/** Stand-in for the platforms that accepts every secret. */
const TAKES_EVERY_SECRET = new Hono()
  .get("/v1/models", (context) => context.json({ data: [] }))
  .post("/api/auth.test", (context) => context.json({ ok: true }));

export interface StageOptions extends AccountOptions {
  /** Default: no container starts. */
  containers?: (dir: string) => ContainerMode;
  /** Default: all engines share one. */
  ownProvider?: boolean;
}

export async function startServerlessStage(options: StageOptions = {}): Promise<ServerlessStage> {
  const { containers, ownProvider = false, ...accountOptions } = options;
  const stage = await startStage(containers, accountOptions);
  const { account } = stage.cloudflare;
  const identity = await startIdentityGateway({
    port: 0,
    dir: stage.dir,
    sessionHours: 1,
    clock: Date.now,
    admit: accountAdmission(account),
  });
  const fronts: Front[] = [];
  const frontOf = async (hostname?: string): Promise<Front> => {
    const made = await startFront({ port: 0, account, runner: stage.runner, access: identity, hostname });
    fronts.push(made);
    return made;
  };
  const front = await frontOf();
  const platforms = await listen(TAKES_EVERY_SECRET, { hostname: "127.0.0.1", port: 0 });
  const endpoints = JSON.stringify({ anthropic: platforms.url, slack: `${platforms.url}/api/` });
  const provider = ownProvider ? undefined : await sharedProvider();
  const opened: TestStack[] = [];
  const access = cloudflareConfig(stage.cloudflare.url, TOKEN);
  const open = async (options: {
    name: string;
    config: ConfigMap;
    program: PulumiFn;
    environment?: Record<string, string>;
  }): Promise<TestStack> => {
    const environment = { ...provider?.environment, ...options.environment };
    const made = await createTestStack({ ...options, environment });
    opened.push(made);
    return made;
  };
  const config = (): ConfigMap => ({
    ...access,
    "steward:target": { value: "serverless" },
    "steward:accountId": { value: ACCOUNT },
    "steward:subdomain": { value: "example" },
    "steward:origin": { value: front.url },
    "steward:teamDomain": { value: identity.url },
    "steward:operators": { value: '["op@example.com"]' },
    "steward:endpoints": { value: endpoints },
    "steward:anthropicApiKey": { value: MODEL_KEY, secret: true },
    "steward:slackBotToken": { value: "xoxb-test-0123456789", secret: true },
    "steward:slackSigningSecret": { value: SIGNING_SECRET, secret: true },
  });
  return {
    stage,
    identity,
    front,
    frontOf,
    config,
    stack: ({ name = "test", config: changes = {}, program = stackProgram, environment = {} } = {}) =>
      open({ name, program, config: { ...config(), ...changes }, environment }),
    bare: ({ name, config: own }) => open({ name, program: stackProgram, config: { ...own, ...access } }),
    async close() {
      for (const stack of opened) await stack.close();
      provider?.close();
      await platforms.close();
      for (const one of fronts) await one.close();
      await identity.close();
      await stage.close();
    },
  };
}

/**
 * Shares one provider, because each start takes a third of a second of CPU time. Returns `undefined` for the official
 * plugin.
 */
async function sharedProvider() {
  if ((await testEngine()).official.cloudflare) return undefined;
  const { port, server } = await serveProvider(() => createCloudflareProvider({}));
  return {
    environment: { PULUMI_DEBUG_PROVIDERS: `cloudflare:${port}` },
    close: () => server.forceShutdown(),
  };
}
