import { engine } from "../../support/docker.ts";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Log, LogLevel, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepareBaseImage } from "../../../rehearsal/base-image.ts";
import { COMPATIBILITY } from "../../../infra/bundle/bundle.ts";
import { writeContext } from "../../../infra/bundle/programs.ts";
import { docker } from "../../../infra/shell/docker.ts";
import { stewardImage } from "../../../infra/bundle/image.ts";
import { ensureSidecarImage } from "../../../rehearsal/sidecar/index.ts";

/** A cold cache assembles a Debian and builds the sidecar here. */
const IMAGES_MS = 10 * 60_000;
const NAME = `steward-test-${randomUUID().slice(0, 8)}`;

const log = (line: string) => void process.stderr.write(`${line}\n`);

/** What stands in for the application: it tells who runs it, keeps its word about its data, echoes sockets. */
const APP = `
import { createServer } from "node:http";
import { writeFileSync, readFileSync } from "node:fs";
process.on("SIGTERM", () => process.exit(0));
createServer((request, response) => {
  if (request.url === "/large") return request.pipe(response);
  if (request.url === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent = 0;
    const timer = setInterval(() => {
      response.write("data: " + sent + "\\n\\n");
      if (++sent === 3) { clearInterval(timer); response.end(); }
    }, 20);
    return;
  }
  writeFileSync("/root/.steward/probe", "kept");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({
    node: process.version, uid: process.getuid(), given: process.env.GIVEN, path: request.url,
    kept: readFileSync("/root/.steward/probe", "utf8"), init: readFileSync("/proc/1/comm", "utf8").trim(),
  }));
}).listen(18789);
`;

const WORKER = `
import { DurableObject } from "cloudflare:workers";
export class Sandbox extends DurableObject {
  async fetch(request) {
    const container = this.ctx.container;
    if (new URL(request.url).pathname === "/destroy") { await container.destroy(); return new Response("gone"); }
    if (!container.running) {
      container.start({ enableInternet: true, env: { GIVEN: "by the Worker" } });
      this.watch = container.monitor().catch(() => undefined);
    }
    for (let attempt = 0; ; attempt += 1) {
      try { return await container.getTcpPort(18789).fetch(request.clone()); }
      catch (error) {
        if (attempt === 900) return new Response(String(error), { status: 502 });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
export default { fetch: (request, env) => env.SANDBOX.getByName("one").fetch(request) };
`;

describe.skipIf(!engine.ok)("a container-backed Durable Object", () => {
  const image = `steward:${NAME}`;
  const built: string[] = [];
  let folder: string;
  let miniflare: Miniflare;
  let address: URL;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "steward-container-"));
    const files = {
      "package.json": '{"type":"module"}',
      "supervisor/main.js": APP,
      "host/warm.js": "",
    };
    await mkdir(join(folder, "app"));
    await writeContext(
      new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])),
      join(folder, "app"),
    );
    await prepareBaseImage({ log });
    const sidecar = await ensureSidecarImage({ log });
    const container = { context: join(folder, "app"), hash: NAME };
    const build = () => stewardImage({ container }, (line) => void built.push(line));
    await Promise.all([build(), build()]);
    miniflare = new Miniflare({
      host: "127.0.0.1",
      port: 0,
      cf: false,
      log: new Log(LogLevel.NONE),
      resourcePersistencePath: join(folder, "storage"),
      containerEngine: {
        localDocker: {
          socketPath: "unix:///var/run/docker.sock",
          containerEgressInterceptorImage: sidecar.image,
        },
      },
      workers: [
        {
          config: {
            name: NAME,
            compatibilityDate: COMPATIBILITY.date,
            compatibilityFlags: [...COMPATIBILITY.flags],
            manifest: {
              mainModule: "index.js",
              modulesRoot: "/",
              modules: { "index.js": { type: "esm", contents: WORKER } },
            },
            env: { SANDBOX: { type: "durable-object", worker: NAME, exportName: "Sandbox" } },
            exports: {
              Sandbox: {
                type: "durable-object",
                storage: "sqlite",
                unsafeUniqueKey: NAME,
                container: { imageName: image },
              },
            },
          },
        },
      ],
    });
    address = await miniflare.ready;
  }, IMAGES_MS);

  afterAll(async () => {
    await miniflare?.dispose();
    const listed = await docker(["ps", "--all", "--quiet", "--filter", `name=-${NAME}-`]);
    const ids = listed.stdout.split("\n").filter((id) => id !== "");
    if (ids.length > 0) await docker(["rm", "--force", ...ids]);
    await docker(["rmi", "--force", image]);
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  test("has an image that was built once, although two programs needed it at the same time", () => {
    expect(built).toEqual([`building ${image}`]);
  });

  test("runs the image on this machine's Docker engine, as its user, behind an init", async () => {
    const response = await fetch(new URL("/hello", address));

    expect(await response.json()).toEqual({
      node: "v24.21.0",
      uid: 10_001,
      given: "by the Worker",
      path: "/hello",
      kept: "kept",
      init: "tini",
    });
    const running = await docker(["ps", "--filter", `ancestor=${image}`, "--format", "{{.Image}}"]);
    expect(running.stdout).toContain(image);
  });

  test("carries a body of 3 MB there and back", async () => {
    const sent = Buffer.alloc(3 << 20, "steward ");
    const response = await fetch(new URL("/large", address), { method: "POST", body: sent });

    expect(Buffer.from(await response.arrayBuffer()).equals(sent)).toBe(true);
  });

  test("carries a stream of events to its end", async () => {
    const response = await fetch(new URL("/events", address));

    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await response.text()).toBe("data: 0\n\ndata: 1\n\ndata: 2\n\n");
  });

  test("answers requests side by side", async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    const answers = await Promise.all(
      paths.map(async (path) => (await (await fetch(new URL(path, address))).json()) as { path: string }),
    );

    expect(answers.map(({ path }) => path)).toEqual(paths);
  });

  test("comes up again after it was destroyed", async () => {
    await fetch(new URL("/destroy", address));
    await sleep(100);
    const response = await fetch(new URL("/again", address));

    expect(response.status).toBe(200);
  });
});
