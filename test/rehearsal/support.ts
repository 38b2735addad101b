import Cloudflare from "cloudflare";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRunner,
  startCloudflare,
  type ContainerMode,
  type RunningCloudflare,
  type WorkerRunner,
} from "../../rehearsal/cloudflare/index.ts";

export const ACCOUNT = "00112233445566778899aabbccddeeff";
/** What the official client wants with every call. */
export const inAccount = { account_id: ACCOUNT };
export const TOKEN = "rehearsal-token_0123456789abcdefghijklmnopqrst";
export const SCRIPT = "steward";

/** A Worker with a container-backed Durable Object, a bucket and a secret, as small as it can be. */
export const BUNDLE = `
import { DurableObject } from "cloudflare:workers";

export class Sandbox extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sawAtStart = ctx.container?.running;
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS visits (at INTEGER)");
  }
  async fetch(request) {
    const url = new URL(request.url);
    const { container } = this.ctx;
    if (url.pathname === "/visit") {
      this.ctx.storage.sql.exec("INSERT INTO visits VALUES (?)", Date.now());
      return Response.json(this.ctx.storage.sql.exec("SELECT count(*) AS visits FROM visits").one());
    }
    if (url.pathname === "/start") {
      container.start({ enableInternet: true, env: { GREETING: url.searchParams.get("greeting") ?? "" } });
      this.ended = container.monitor().then(() => "ended", (error) => error.message);
      return Response.json({ running: container.running });
    }
    if (url.pathname === "/running") {
      return Response.json({ running: container.running, sawAtStart: this.sawAtStart });
    }
    if (url.pathname === "/ended") return Response.json({ ended: await this.ended });
    if (url.pathname === "/signal") { container.signal(15); return Response.json({}); }
    if (url.pathname === "/destroy") { await container.destroy(); return Response.json({ running: container.running }); }
    const [, port, path] = /^\\/port\\/(\\d+)(\\/.*)$/.exec(url.pathname) ?? [];
    if (port) {
      try {
        return await container.getTcpPort(Number(port)).fetch(new Request("http://sandbox" + path + url.search, request));
      } catch (error) {
        return Response.json({ error: error.message }, { status: 502 });
      }
    }
    return new Response("unknown", { status: 404 });
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/secret") return Response.json({ length: env.API_KEY.length, names: Object.keys(env).sort() });
    if (url.pathname.startsWith("/headers")) return Response.json(Object.fromEntries(request.headers));
    if (url.pathname === "/echo") return new Response(request.body, { status: 201, headers: { "x-url": request.url } });
    if (url.pathname === "/bucket" && request.method === "DELETE") {
      await env.STATE.delete("note");
      return new Response(null, { status: 204 });
    }
    if (url.pathname === "/bucket" && request.method === "PUT") {
      await env.STATE.put("note", request.body);
      return new Response(null, { status: 204 });
    }
    if (url.pathname === "/bucket") return new Response(await (await env.STATE.get("note"))?.text() ?? "none");
    if (url.pathname.startsWith("/object")) {
      const onward = new URL(request.url);
      onward.pathname = url.pathname.slice("/object".length);
      return env.SANDBOX.getByName("one").fetch(new Request(onward, request));
    }
    return new Response("version one");
  },
};
`;

/** What migrates: the class, without the binding that cannot exist yet. */
export const MIGRATE_BUNDLE = `
import { DurableObject } from "cloudflare:workers";
export class Sandbox extends DurableObject {}
export default { fetch: () => new Response("migrated") };
`;

/** A container's main process: two HTTP servers on the ports that it is given, and a clean end at SIGTERM. */
export const SUPERVISOR = `
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const env = { STEWARD_HOME: "/tmp", GATEWAY_PORT: "18789", SUPERVISOR_PORT: "18790", ...process.env };
const marker = join(env.STEWARD_HOME, "marker");
const fresh = !existsSync(marker);
writeFileSync(marker, "");
const serve = (name, port) => createServer((request, response) => {
  if (request.url === "/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\\n\\n");
    setTimeout(() => response.end("data: second\\n\\n"), 300);
    return;
  }
  if (request.url === "/exit") process.exit(3);
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => response.end(JSON.stringify({
    name, fresh, body, method: request.method, url: request.url, host: request.headers.host,
    greeting: env.GREETING, home: env.STEWARD_HOME, pid: process.pid,
  })));
}).on("upgrade", (request, socket) => {
  const key = request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const accept = createHash("sha1").update(key).digest("base64");
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: Upgrade\\r\\n" +
    "sec-websocket-accept: " + accept + "\\r\\n\\r\\n");
  socket.write(Buffer.from([0x81, 5, ...Buffer.from("hello")]));
}).listen(Number(port), env.STEWARD_BIND);
serve("gateway", env.GATEWAY_PORT);
serve("supervisor", env.SUPERVISOR_PORT);
process.on("SIGTERM", () => { console.log("asked to stop"); process.exit(0); });
console.log("supervisor up");
`;

/** Tokens that may do some things only. */
export type ScopedTokens = NonNullable<AccountOptions["scopedTokens"]>;

/** What an account has beyond the usual one. */
export type AccountOptions = Partial<
  Pick<Parameters<typeof startCloudflare>[0], "issueCredentials" | "scopedTokens" | "clock">
>;

/** Everything that a test starts, ended together and in the order that ends cleanly. */
export interface Stage {
  dir: string;
  client: Cloudflare;
  cloudflare: RunningCloudflare;
  runner: WorkerRunner;
  logged: string[];
  /** Ends both and starts them again on the same directory. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export function tempDir(): string {
  return mkdtempSync(join(tmpdir(), "steward-rehearsal-"));
}

/** A client that is not this project's: Cloudflare's own SDK. */
export function clientOf(url: string, apiToken: string = TOKEN): Cloudflare {
  return new Cloudflare({ apiToken, baseURL: url, maxRetries: 0, timeout: 60_000 });
}

export async function startStage(
  containers?: (dir: string) => ContainerMode,
  options: AccountOptions = {},
): Promise<Stage> {
  const dir = tempDir();
  const mode: ContainerMode = containers?.(dir) ?? {
    kind: "process",
    supervise: { command: ["false"], dir: join(dir, "containers") },
  };
  const logged: string[] = [];
  const log = (message: string, fields?: Record<string, unknown>): void => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const open = async (): Promise<Pick<Stage, "client" | "cloudflare" | "runner">> => {
    const runner = createRunner({ dir: join(dir, "runner"), containers: mode, log });
    const account = { dir: join(dir, "account"), port: 0, accountId: ACCOUNT, apiToken: TOKEN };
    const cloudflare = await startCloudflare({ ...account, ...options, runner, log, subdomain: "example" });
    return { runner, cloudflare, client: clientOf(cloudflare.url) };
  };
  const end = async (): Promise<void> => {
    await stage.cloudflare.close();
    await stage.runner.close();
  };
  const stage: Stage = {
    dir,
    logged,
    ...(await open()),
    async restart() {
      await end();
      Object.assign(stage, await open());
    },
    async close() {
      await end();
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return stage;
}

/** One JavaScript module as a version carries it. */
export function moduleOf(source: string): { name: string; content_type: string; content_base64: string } {
  return {
    name: "index.js",
    content_type: "application/javascript+module",
    content_base64: Buffer.from(source).toString("base64"),
  };
}

/** Parts that every version of these Workers has. */
export const COMMON = {
  account_id: ACCOUNT,
  compatibility_date: "2026-07-01",
  compatibility_flags: ["nodejs_compat"],
  main_module: "index.js",
};

/** What the stack creates up to a serving Worker: Worker, bucket, migrating version, current version. */
export async function deployAll(
  client: Cloudflare,
  source: string = BUNDLE,
): Promise<{ workerId: string; versionId: string; namespaceId: string }> {
  const worker = await client.workers.beta.workers.create({
    account_id: ACCOUNT,
    name: SCRIPT,
    subdomain: { enabled: true },
  });
  await client.r2.buckets.create({ account_id: ACCOUNT, name: "test-steward" });
  await migrate(client, worker.id);
  const versionId = await release(client, worker.id, source);
  return { workerId: worker.id, versionId, namespaceId: await namespaceIdOf(client) };
}

export async function migrate(client: Cloudflare, workerId: string, containers = true): Promise<string> {
  const version = await client.workers.beta.workers.versions.create(workerId, {
    ...COMMON,
    deploy: true,
    modules: [moduleOf(MIGRATE_BUNDLE)],
    migrations: { new_tag: "v1", new_sqlite_classes: ["Sandbox"] },
    ...(containers && { containers: [{ class_name: "Sandbox" }] }),
  });
  return version.id;
}

export async function release(
  client: Cloudflare,
  workerId: string,
  source: string = BUNDLE,
  classes: Readonly<Record<string, string>> = { SANDBOX: "Sandbox" },
): Promise<string> {
  const version = await client.workers.beta.workers.versions.create(workerId, {
    ...COMMON,
    modules: [moduleOf(source)],
    containers: [{ class_name: "Sandbox" }],
    bindings: [
      { type: "r2_bucket", name: "STATE", bucket_name: "test-steward" },
      { type: "secret_text", name: "API_KEY", text: "sk-very-secret-0001" },
      ...Object.entries(classes).map(([name, class_name]) => {
        return { type: "durable_object_namespace" as const, name, class_name };
      }),
      { type: "plain_text", name: "LOG_LEVEL", text: "debug" },
    ],
  });
  await client.workers.scripts.deployments.create(SCRIPT, {
    account_id: ACCOUNT,
    strategy: "percentage",
    versions: [{ version_id: version.id, percentage: 100 }],
  });
  return version.id;
}

export async function namespaceIdOf(client: Cloudflare): Promise<string> {
  const { result } = await client.durableObjects.namespaces.list({ account_id: ACCOUNT });
  return result[0]?.id ?? "";
}

export async function tieApplication(
  client: Cloudflare,
  namespaceId: string,
  name = "steward-sandbox",
  maxInstances = 1,
) {
  return client.containers.applications.create({
    account_id: ACCOUNT,
    name,
    scheduling_policy: "default",
    instances: 0,
    max_instances: maxInstances,
    configuration: { image: "registry.cloudflare.com/example/steward:one", instance_type: "basic" },
    durable_objects: { namespace_id: namespaceId },
  });
}

/** Asks the deployed Worker itself, without the front. */
export async function ask(runner: WorkerRunner, path: string, init?: RequestInit): Promise<Response> {
  const address = await runner.address(SCRIPT);
  if (address === undefined) throw new Error("nothing is deployed");
  return fetch(new URL(path, address), init);
}

/** Repeats until it is true; only what hangs takes longer than 50 s. */
export async function until(what: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!(await what())) {
    if (Date.now() > deadline) throw new Error("it did not become true within 50 s");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
