import { createHash } from "node:crypto";
import { join } from "node:path";
import { build } from "esbuild";
import { COMPATIBILITY } from "../../infra/bundle/bundle.ts";
import { createRunner } from "../../rehearsal/cloudflare/index.ts";
import { BINDINGS } from "../../runtime/contract/names.ts";

const NAMESPACE = "0123456789abcdef0123456789abcdef";
const MAIN = "index.js";
const BUCKET = "state";

/** A module that runs in workerd. */
export interface ModuleWorker {
  url: URL;
  close(): Promise<void>;
}

/**
 * Runs a module with one Durable Object class in workerd, which its binding `OBJECT` leads to, and an empty bucket. Imports are
 * resolved from the project's root. `dir` keeps what the object stores.
 */
export async function startModule(source: string, className: string, dir: string): Promise<ModuleWorker> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    format: "esm",
    external: ["cloudflare:*", "node:*"],
    write: false,
    logLevel: "silent",
  });
  const content = Buffer.from(outputFiles[0]?.text ?? "");
  const sha256 = createHash("sha256").update(content).digest("hex");
  const runner = createRunner({
    dir: join(dir, "storage"),
    containers: { kind: "process", supervise: { command: [process.execPath], dir: join(dir, "containers") } },
    log: () => {},
  });
  const object = { type: "durable_object_namespace", name: "OBJECT", class_name: className } as const;
  await runner.apply({
    scripts: [
      {
        name: "object",
        versionId: "version-1",
        versionCreatedOn: new Date().toISOString(),
        mainModule: MAIN,
        modules: [{ name: MAIN, contentType: "application/javascript+module", sha256, content }],
        bindings: [
          { ...object, namespace_id: NAMESPACE },
          { type: "r2_bucket", name: BINDINGS.state, bucket_name: BUCKET },
        ],
        compatibilityDate: COMPATIBILITY.date,
        compatibilityFlags: [...COMPATIBILITY.flags],
        classes: [{ className, namespaceId: NAMESPACE, sqlite: true, containerEnabled: false }],
      },
    ],
    buckets: [BUCKET],
    namespaces: [NAMESPACE],
    boundNamespaces: [NAMESPACE],
  });
  return { url: new URL("/", await runner.address("object")), close: () => runner.close() };
}
