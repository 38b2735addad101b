import { createHash } from "node:crypto";
import { join } from "node:path";
import { build } from "esbuild";
import { COMPATIBILITY } from "../../infra/bundle/bundle.ts";
import { createRunner } from "../../rehearsal/cloudflare/index.ts";
import { BINDINGS, DIRECTORY_CLASS } from "../../runtime/contract/names.ts";

const NAMESPACE = "0123456789abcdef0123456789abcdef";
const DIRECTORY = "123456789abcdef0123456789abcdef0";
const MAIN = "index.js";
const BUCKET = "state";

export interface ModuleWorker {
  url: URL;
  close(): Promise<void>;
}

/** Runs a TypeScript module in workerd, with an R2 bucket and with its Durable Object class bound as `OBJECT`. */
export async function startModule(
  source: string,
  className: string,
  dir: string,
  { directory = false } = {},
): Promise<ModuleWorker> {
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
  const objects = [
    { name: "OBJECT", className, namespaceId: NAMESPACE },
    ...(directory ? [{ name: BINDINGS.directory, className: DIRECTORY_CLASS, namespaceId: DIRECTORY }] : []),
  ];
  const namespaces = objects.map(({ namespaceId }) => namespaceId);
  await runner.apply({
    scripts: [
      {
        name: "object",
        versionId: "version-1",
        versionCreatedOn: new Date().toISOString(),
        mainModule: MAIN,
        modules: [{ name: MAIN, contentType: "application/javascript+module", sha256, content }],
        bindings: [
          ...objects.map((one) => ({
            type: "durable_object_namespace" as const,
            name: one.name,
            class_name: one.className,
            namespace_id: one.namespaceId,
          })),
          { type: "r2_bucket", name: BINDINGS.state, bucket_name: BUCKET },
        ],
        compatibilityDate: COMPATIBILITY.date,
        compatibilityFlags: [...COMPATIBILITY.flags],
        classes: objects.map((one) => ({
          className: one.className,
          namespaceId: one.namespaceId,
          sqlite: true,
          containerEnabled: false,
        })),
      },
    ],
    buckets: [BUCKET],
    namespaces,
    boundNamespaces: namespaces,
  });
  return { url: new URL("/", await runner.address("object")), close: () => runner.close() };
}
