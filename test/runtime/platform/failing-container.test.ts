import { createHash } from "node:crypto";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { COMPATIBILITY } from "../../../infra/build/compatibility.ts";
import { createRunner } from "../../../infra/rehearsal/cloudflare/index.ts";
import { temporaryDirectory } from "../support/processes.ts";

const NAMESPACE = "0123456789abcdef0123456789abcdef";

/** The real object over a container that the platform cannot start. */
const SOURCE = `
  import { Sandbox as Real } from "./runtime/platform/cloudflare/sandbox.ts";
  const container = { running: false, start() { throw new Error("no room for a container"); } };
  export class Sandbox extends Real {
    constructor(ctx, env) {
      Object.defineProperty(ctx, "container", { value: container });
      super(ctx, env);
    }
    async run(event) {
      await this.admit(event).catch(() => {});
      await this.ctx.storage.deleteAlarm();
      let failed = "";
      await this.alarm().catch((error) => { failed = String(error); });
      const alarm = await this.ctx.storage.getAlarm();
      return { failed, alarmInMs: alarm === null ? null : alarm - Date.now(), counts: await this.counts() };
    }
  }
  export default {
    fetch: async (request, env) => {
      try {
        return Response.json(await env.SANDBOX.getByName("one").run(await request.json()));
      } catch (error) {
        return new Response(String(error), { status: 500 });
      }
    },
  };
`;

test("a container that cannot be started leaves its events an alarm", async () => {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    format: "esm",
    external: ["cloudflare:*"],
    write: false,
    logLevel: "silent",
  });
  const content = Buffer.from(outputFiles[0]?.text ?? "");
  const dir = await temporaryDirectory();
  const runner = createRunner({
    dir: join(dir, "storage"),
    containers: { kind: "process", supervise: { command: [process.execPath], dir: join(dir, "containers") } },
    log: () => {},
  });
  onTestFinished(() => runner.close());
  const name = "index.js";
  const sha256 = createHash("sha256").update(content).digest("hex");
  await runner.apply({
    scripts: [
      {
        name: "sandbox",
        versionId: "version-1",
        versionCreatedOn: new Date().toISOString(),
        mainModule: name,
        modules: [{ name, contentType: "application/javascript+module", sha256, content }],
        bindings: [
          {
            type: "durable_object_namespace",
            name: "SANDBOX",
            class_name: "Sandbox",
            namespace_id: NAMESPACE,
          },
        ],
        compatibilityDate: COMPATIBILITY.date,
        compatibilityFlags: [...COMPATIBILITY.flags],
        classes: [{ className: "Sandbox", namespaceId: NAMESPACE, sqlite: true, containerEnabled: false }],
      },
    ],
    buckets: [],
    namespaces: [NAMESPACE],
    boundNamespaces: [NAMESPACE],
  });

  const event = {
    id: "Ev1",
    platform: "slack",
    conversation: "C1",
    receivedAt: Date.now(),
    payload: {},
  };
  const response = await fetch(new URL("/", await runner.address("sandbox")), {
    method: "POST",
    body: JSON.stringify(event),
  });
  if (!response.ok) throw new Error(await response.text());
  const result = (await response.json()) as { failed: string; alarmInMs: number | null };

  expect(result).toMatchObject({ failed: "", counts: { received: 1 } });
  expect(result.alarmInMs).toBeGreaterThan(0);
});
