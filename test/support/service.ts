import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startModel } from "../../rehearsal/standins/model.ts";
import { startSlack, type SlackStandIn } from "../../rehearsal/standins/slack.ts";
import { freePorts } from "../../rehearsal/ports.ts";
import { SMALL_MALLOC, SMALL_HEAP } from "../../runtime/supervisor/memory.ts";
import { accepting } from "./measure.ts";

const SECRETS = {
  ANTHROPIC_API_KEY: "bench-model-key",
  SLACK_BOT_TOKEN: "bench-slack-token",
  SLACK_SIGNING_SECRET: "bench-signing-secret",
};
const START_MS = 60_000;

/** Stand-ins for the services that steward calls. */
export interface Surroundings {
  slack: SlackStandIn;
  environment: Record<string, string>;
  modelTakes(milliseconds: number): void;
  close(): Promise<void>;
}

export async function startSurroundings(): Promise<Surroundings> {
  const where = { hostname: "127.0.0.1", port: 0 };
  let delayMs = 0;
  const model = await startModel({ ...where, apiKey: SECRETS.ANTHROPIC_API_KEY, delayMs: () => delayMs });
  const slack = await startSlack({
    ...where,
    botToken: SECRETS.SLACK_BOT_TOKEN,
    signingSecret: SECRETS.SLACK_SIGNING_SECRET,
  });
  return {
    slack,
    environment: { ...SECRETS, ANTHROPIC_BASE_URL: model.url, SLACK_API_URL: slack.apiUrl },
    modelTakes: (milliseconds) => void (delayMs = milliseconds),
    close: async () => void (await Promise.all([model.close(), slack.close()])),
  };
}

export interface Service {
  pid: number;
  /** Time until the gateway's port accepts connections. */
  readyMs: number;
  /** URL of the edge, which only the host has. */
  url: string;
  gone: Promise<unknown>;
  stop(): Promise<void>;
}

export type Program = "supervisor/main.js" | "host/main.js";

export async function startService(
  bundleDir: string,
  program: Program,
  home: string,
  environment: Record<string, string>,
): Promise<Service> {
  const [gatewayPort = 0, supervisorPort = 0, port = 0] = await freePorts(3);
  const started = performance.now();
  const child = spawn(process.execPath, [...SMALL_HEAP, join(bundleDir, program)], {
    stdio: ["ignore", "ignore", "ignore"],
    env: {
      ...baseEnvironment(home),
      ...environment,
      GATEWAY_PORT: String(gatewayPort),
      SUPERVISOR_PORT: String(supervisorPort),
      PORT: String(port),
      STEWARD_CONTROL_TOKEN: "bench-control-token",
    },
  });
  const gone = once(child, "exit");
  await accepting(gatewayPort, START_MS);
  const readyMs = performance.now() - started;
  if (program === "host/main.js") await answering(`http://127.0.0.1:${port}/readyz`);
  return {
    pid: child.pid ?? 0,
    readyMs,
    url: `http://127.0.0.1:${port}`,
    gone,
    stop: async () => {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** The edge notices its gateway shortly after the gateway's port opens. */
async function answering(url: string): Promise<void> {
  const end = performance.now() + START_MS;
  while (
    !(await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (performance.now() > end) throw new Error(`${url} did not answer within ${START_MS} ms`);
    await sleep(5);
  }
}

/** Returns an environment like that of the image. */
export function baseEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    STEWARD_HOME: join(home, "data"),
    NODE_COMPILE_CACHE: join(process.cwd(), ".steward", "bench-compile-cache"),
    NODE_COMPILE_CACHE_PORTABLE: "1",
    ...SMALL_MALLOC,
  };
}
