import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { createRunner } from "../../rehearsal/cloudflare/index.ts";
import { runs } from "../support/measure.ts";
import {
  ACCOUNT,
  ask,
  BUNDLE,
  deployAll,
  release,
  SCRIPT,
  startStage,
  SUPERVISOR,
  tempDir,
  tieApplication,
  until,
  type Stage,
} from "./support.ts";

let stage: Stage | undefined;

afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function processStage(): Promise<Stage> {
  stage = await startStage((dir) => {
    const file = join(dir, "supervisor.mjs");
    writeFileSync(file, SUPERVISOR);
    return {
      kind: "process",
      supervise: { command: [process.execPath, file], dir: join(dir, "containers") },
    };
  });
  return stage;
}

async function json(path: string, init?: RequestInit): Promise<Record<string, unknown>> {
  if (stage === undefined) throw new Error("no stage");
  return (await (await ask(stage.runner, path, init)).json()) as Record<string, unknown>;
}

async function answer(path: string): Promise<Record<string, unknown>> {
  await until(async () => (await ask((stage as Stage).runner, path)).status === 200);
  return json(path);
}

test("the deployed bundle runs with its secret, bucket and Durable Object storage", async () => {
  const { client, runner } = await processStage();
  await deployAll(client);
  expect(await json("/secret")).toEqual({
    length: "sk-very-secret-0001".length,
    names: ["API_KEY", "LOG_LEVEL", "SANDBOX", "STATE"],
  });
  await ask(runner, "/bucket", { method: "PUT", body: "kept" });
  expect(await (await ask(runner, "/bucket")).text()).toBe("kept");
  expect(await json("/object/visit")).toEqual({ visits: 1 });
  expect(await json("/object/visit")).toEqual({ visits: 2 });
});

test("storage outlives a new version and a restart of the rehearsal", async () => {
  const { client, runner } = await processStage();
  const { workerId } = await deployAll(client);
  await ask(runner, "/bucket", { method: "PUT", body: "kept" });
  await json("/object/visit");

  await release(client, workerId, BUNDLE.replace("version one", "version two"));
  expect(await (await ask(runner, "/")).text()).toBe("version two");
  expect(await json("/object/visit")).toEqual({ visits: 2 });

  await (stage as Stage).restart();
  expect(await (await ask((stage as Stage).runner, "/")).text()).toBe("version two");
  expect(await json("/object/visit")).toEqual({ visits: 3 });
  expect(await (await ask((stage as Stage).runner, "/bucket")).text()).toBe("kept");
});

test("a version that does not start is refused and the former one goes on", async () => {
  const { client, runner } = await processStage();
  const { workerId, versionId } = await deployAll(client);
  await expect(release(client, workerId, "this is not JavaScript")).rejects.toThrow(/10021/);
  expect(await (await ask(runner, "/")).text()).toBe("version one");
  const { deployments } = (await client.workers.scripts.deployments.list(SCRIPT, { account_id: ACCOUNT }))
    // The client types this page by its paging helper; read here is the raw answer, whose result holds the list.
    .result as unknown as { deployments: { versions: { version_id: string }[] }[] };
  expect(deployments[0]?.versions[0]?.version_id).toBe(versionId);
});

test("a version starts although another program has taken the port of the one before", async () => {
  const { client, runner } = await processStage();
  const { workerId } = await deployAll(client);
  const port = Number((await runner.address(SCRIPT))?.port);
  const listen = () => other.listen(port, "127.0.0.1");
  const other = createServer().on("error", () => setImmediate(listen));
  onTestFinished(() => void other.close());
  const taken = new Promise((resolve) => other.once("listening", resolve));
  listen();
  await release(client, workerId, BUNDLE.replace("version one", "version two"));
  await taken;
  expect(await (await ask(runner, "/")).text()).toBe("version two");
  expect(Number((await runner.address(SCRIPT))?.port)).not.toBe(port);
});

test("a container starts only when an application is tied to its namespace", async () => {
  const { client } = await processStage();
  const { namespaceId } = await deployAll(client);
  expect(await json("/object/start?greeting=hello")).toEqual({ running: true });
  expect(await json("/object/ended")).toEqual({
    ended: expect.stringContaining("no container instance that can be provided"),
  });
  expect(await json("/object/running")).toMatchObject({ running: false });

  await tieApplication(client, namespaceId);
  await json("/object/start?greeting=hello");
  expect(await answer("/object/port/18790/status")).toMatchObject({
    name: "supervisor",
    greeting: "hello",
    url: "/status",
    host: "sandbox",
  });
});

test("requests reach the port that they name, with method, query and body, and streams stream", async () => {
  const { client, runner } = await processStage();
  await tieApplication(client, (await deployAll(client)).namespaceId);
  await json("/object/start");
  await answer("/object/port/18789/");
  const posted = await json("/object/port/18789/a/b?c=d", { method: "POST", body: "payload" });
  expect(posted).toMatchObject({ name: "gateway", method: "POST", url: "/a/b?c=d", body: "payload" });

  const stream = await ask(runner, "/object/port/18789/stream");
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe("data: first\n\n");
  expect((await reader?.read())?.value).toBe("data: second\n\n");

  const refused = await ask(runner, "/object/port/9999/");
  expect(refused.status).toBe(502);
  expect(await refused.json()).toEqual({ error: expect.stringContaining("not listening") });
});

test("monitor tells how a container ended, and its directory is lost with it", async () => {
  const { client, runner, ...rest } = await processStage();
  await tieApplication(client, (await deployAll(client)).namespaceId);
  await json("/object/start");
  expect(await answer("/object/port/18790/")).toMatchObject({ fresh: true });
  expect(await answer("/object/port/18790/")).toMatchObject({ fresh: true });
  await json("/object/signal");
  expect(await json("/object/ended")).toEqual({ ended: "ended" });
  expect(await json("/object/running")).toMatchObject({ running: false });
  expect(runner.containerLog()).toContain("asked to stop");
  expect(rest.logged.join("\n")).toContain("container process ended");

  await json("/object/start");
  expect(await answer("/object/port/18790/")).toMatchObject({ fresh: true });
  await ask(runner, "/object/port/18790/exit");
  expect(await json("/object/ended")).toEqual({ ended: "Container exited with unexpected exit code: 3" });

  await json("/object/start");
  await answer("/object/port/18790/");
  expect(await json("/object/destroy")).toEqual({ running: false });
});

test("a container outlives a new version of the Worker and is replaced by a rollout", async () => {
  const { client } = await processStage();
  const { workerId, namespaceId } = await deployAll(client);
  const application = await tieApplication(client, namespaceId);
  await json("/object/start");
  const { pid } = await answer("/object/port/18790/");

  await release(client, workerId, BUNDLE.replace("version one", "version two"));
  expect(await json("/object/running")).toEqual({ running: true, sawAtStart: true });
  expect(await answer("/object/port/18790/")).toMatchObject({ pid });

  await client.containers.applications.rollouts.create(application.id, {
    account_id: ACCOUNT,
    description: "image two",
    strategy: "rolling",
    kind: "full_auto",
    target_configuration: { image: "registry.cloudflare.com/example/steward:two" },
  });
  await until(async () => !runs(Number(pid)));
  // The application names the image once the container is replaced.
  await until(async () => {
    const { configuration } = await client.containers.applications.get(application.id, {
      account_id: ACCOUNT,
    });
    return Object(configuration).image === "registry.cloudflare.com/example/steward:two";
  });
});

test("a WebSocket goes through the Worker to the container's port", async () => {
  const { client, runner } = await processStage();
  await tieApplication(client, (await deployAll(client)).namespaceId);
  await json("/object/start");
  await answer("/object/port/18789/");
  const address = await runner.address(SCRIPT);
  const socket = new WebSocket(`ws://${address?.host}/object/port/18789/chat`);
  const [message] = (await once(socket, "message")) as [MessageEvent];
  expect(message.data).toBe("hello");
  socket.close();
});

test("a connection waits for a version that is being applied, and a deleted Worker has none", async () => {
  const { client, runner } = await processStage();
  const { workerId } = await deployAll(client);
  const released = release(client, workerId, BUNDLE.replace("version one", "version two"));
  await expect
    .poll(async () => {
      const socket = await runner.connect(SCRIPT);
      const { readyState } = socket ?? {};
      socket?.destroy();
      return readyState;
    })
    .toBe("open");
  await released;
  await client.workers.beta.workers.delete(workerId, { account_id: ACCOUNT });
  expect(await runner.connect(SCRIPT)).toBeUndefined();
});

test("a deleted Worker takes its containers with it", async () => {
  const { client, runner } = await processStage();
  const { workerId, namespaceId } = await deployAll(client);
  await tieApplication(client, namespaceId);
  await json("/object/start");
  const { pid } = await answer("/object/port/18790/");
  expect(runs(Number(pid))).toBe(true);
  await client.workers.beta.workers.delete(workerId, { account_id: ACCOUNT });
  expect(await runner.address(SCRIPT)).toBeUndefined();
  await until(async () => !runs(Number(pid)));
});

test("no container is left after close, nor its directory", async () => {
  const { client } = await processStage();
  await tieApplication(client, (await deployAll(client)).namespaceId);
  await json("/object/start");
  const { pid, home } = await answer("/object/port/18790/");
  expect(existsSync(String(home))).toBe(true);
  await stage?.close();
  stage = undefined;
  expect(runs(Number(pid))).toBe(false);
  expect(existsSync(String(home))).toBe(false);
});

test("what a killed rehearsal left running is ended by the next one", async () => {
  const dir = tempDir();
  const script = fileURLToPath(new URL("abandoned.ts", import.meta.url));
  const child = spawn(process.execPath, [script, dir], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(runs(pid)).toBe(true);

  const supervise = { command: ["false"], dir: join(dir, "containers") };
  const next = createRunner({
    dir: join(dir, "runner"),
    containers: { kind: "process", supervise },
    log: () => undefined,
  });
  await next.apply({ scripts: [], buckets: [], namespaces: [], boundNamespaces: [] });
  // All of them have been sent their signal; which of them is gone first is the kernel's affair.
  await until(async () => !runs(pid) && markedBy(join(dir, "runner")).length === 0);
  await next.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Linux's own account of who runs on a directory. */
function markedBy(dir: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return readFileSync(`/proc/${name}/environ`, "utf8").includes(dir);
    } catch {
      return false;
    }
  });
}
