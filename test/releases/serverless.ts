import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Hono } from "hono";
import type { Deployment, Stack } from "@pulumi/pulumi/automation/index.js";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import type { DeployedNames } from "../../infra/serverless/previous-version.ts";
import { startCloud, type Cloud } from "../../rehearsal/cloud.ts";
import { ensureEngine } from "../../rehearsal/engine/index.ts";
import { startPlatforms, type Platforms } from "../../rehearsal/platforms.ts";
import { freePorts } from "../../rehearsal/ports.ts";
import { readRehearsalSettings } from "../../rehearsal/settings.ts";
import { OPERATOR, serverlessConfig } from "../../rehearsal/stack-config.ts";
import { configure, openStack } from "../../rehearsal/stack.ts";
import { listen } from "../../rehearsal/standins/serve.ts";
import type { Service } from "./data.ts";
import { killEngine } from "./releases.ts";
import { placed, unpack } from "./packed.ts";

/** The account of an archive, with the present version's program on its stack. */
export interface ServerlessUpgrade {
  stack: Stack;
  cloud: Cloud;
  platforms: Platforms;
  /** Names by which the account's Worker and container are found. */
  deployed: DeployedNames;
  service(): Promise<Service>;
  /** Everything in the account, as text. */
  account(): Promise<string>;
  /** Updates the stack, and kills the engine at the first request to Cloudflare's API that fits. */
  upKilledAt(point: KillPoint): Promise<void>;
  /** Chooses the program that containers run from their next start on, and stops the one that runs. */
  run(program: "archived" | "present"): Promise<void>;
  close(): Promise<void>;
}

/** A request to Cloudflare's API, and the side of its effect on which the engine is killed. */
export interface KillPoint {
  path: RegExp;
  when: "before" | "after";
}

const HERE = "127.0.0.1";
const PORTED = ["rehearsal.json", "state.json", "discord.json", "telegram.json", "account/account.json"];

/** Unpacks the serverless target of a release onto free ports. The stack has the archived state; nothing is updated. */
export async function openServerless(release: string): Promise<ServerlessUpgrade> {
  await using ends = new AsyncDisposableStack();
  const opened = await open(release, ends);
  const kept = ends.move();
  return { ...opened, close: () => kept.disposeAsync() };
}

/** @param ends gets what ends or removes each started part */
async function open(release: string, ends: AsyncDisposableStack): Promise<Omit<ServerlessUpgrade, "close">> {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-upgrade-"));
  ends.defer(() => rm(dir, { recursive: true, force: true }));
  const archive = path.join(import.meta.dirname, release);
  await unpack(path.join(archive, "serverless.tar.zst"), dir);
  await unpack(path.join(archive, "program.tar.zst"), path.join(dir, "program"));
  await movePorts(dir);
  const settings = await readRehearsalSettings(dir);
  const programs = { archived: path.join(dir, "program"), present: (await buildBundle()).container.dir };
  const main = (program: keyof typeof programs) => path.join(programs[program], "supervisor/main.js");
  const command = [process.execPath, main("present")];
  const platforms = await startPlatforms({ settings, dir, hostname: HERE, realModel: false });
  ends.defer(() => platforms.close());
  const containers = { kind: "process", supervise: { command, dir: path.join(dir, "sandbox") } } as const;
  // Everything that is deployed asks the archived address of the API, which passes requests on to the emulation.
  const [hidden = 0] = await freePorts(1);
  const behind = { ...settings, ports: { ...settings.ports, api: hidden } };
  const cloud = await startCloud({ dir, settings: behind, containers, containerHost: HERE, log: () => {} });
  ends.defer(() => cloud.close());
  const engine = await ensureEngine({ docker: false, log: () => {} });
  let point: KillPoint | undefined;
  const kill = (when: KillPoint["when"], { method, url }: Request): void => {
    if (point?.when !== when || method === "GET" || !point.path.test(new URL(url).pathname)) return;
    point = undefined;
    killEngine(`STEWARD_REHEARSAL=${process.pid}:${dir}`);
  };
  const api = await listen(
    new Hono().all("*", async ({ req: { raw } }) => {
      kill("before", raw);
      const { pathname, search } = new URL(raw.url);
      const answer = await fetch(`${new URL(cloud.apiUrl).origin}${pathname}${search}`, {
        method: raw.method,
        headers: raw.headers,
        ...(raw.body && { body: await raw.arrayBuffer() }),
      });
      kill("after", raw);
      const { status } = answer;
      return new Response(await answer.arrayBuffer(), {
        status,
        headers: { "content-type": "application/json" },
      });
    }),
    { hostname: HERE, port: settings.ports.api },
  );
  ends.defer(() => api.close());
  const apiUrl = `${api.url}${new URL(cloud.apiUrl).pathname}`;
  const stack = await openStack({ dir, engine, passphrase: settings.passphrase, log: () => {} });
  const { origin, containerOrigin, identity } = cloud;
  const endpoints = { ...platforms.endpoints, worker: containerOrigin };
  const config = serverlessConfig({ settings, endpoints, apiUrl, origin, teamOrigin: identity.url });
  await configure(stack, engine, config, {});
  const state = placed(await readFile(path.join(dir, "state.json"), "utf8"));
  await stack.importStack(JSON.parse(state) as Deployment);
  const { accountId, apiToken } = settings;
  const account = () => readFile(path.join(dir, "account/account.json"), "utf8");
  return {
    stack,
    cloud,
    platforms,
    deployed: {
      access: { accountId, apiToken, baseURL: apiUrl },
      scriptName: "steward",
      applicationName: "steward-sandbox",
    },
    async service() {
      const { audience } = await stack.outputs();
      const token = await identity.issue({ aud: String(audience?.value), email: OPERATOR });
      return { url: origin, headers: { cookie: `CF_Authorization=${token}` } };
    },
    async upKilledAt(at) {
      point = at;
      const ended = await stack.up().then(String, () => "killed");
      if (ended !== "killed" || point !== undefined) throw new Error(`not killed: ${ended}`);
      await stack.cancel();
    },
    account,
    async run(program) {
      command[1] = main(program);
      const { namespaces } = JSON.parse(await account()) as { namespaces: { id: string }[] };
      for (const { id } of namespaces) await cloud.runner.stopContainers(id);
    },
  };
}

/** Gives an archive's account and state other ports of this machine: those of its making may be taken. */
async function movePorts(folder: string): Promise<void> {
  const settings = path.join(folder, "rehearsal.json");
  const { ports } = JSON.parse(await readFile(settings, "utf8")) as { ports: Record<string, number> };
  const former = Object.values(ports);
  const free = await freePorts(former.length);
  const present = new Set(await readdir(folder, { recursive: true }));
  for (const file of PORTED.filter((name) => present.has(name))) {
    const text = await readFile(path.join(folder, file), "utf8");
    // In one pass, because a new port may equal a former one.
    const place = new RegExp(`((?:127\\.0\\.0\\.1|localhost|"): ?)(${former.join("|")})\\b`, "g");
    const moved = text.replaceAll(
      place,
      (_, before: string, port: string) => `${before}${free[former.indexOf(Number(port))]}`,
    );
    await writeFile(path.join(folder, file), moved);
  }
}
