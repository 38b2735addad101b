import { createHash } from "node:crypto";
import { join } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import { COMPATIBILITY } from "../../infra/build/compatibility.ts";
import { createRunner } from "../../infra/rehearsal/cloudflare/index.ts";
import { BINDINGS } from "../../runtime/contract/names.ts";
import { temporaryDirectory } from "../runtime/support/processes.ts";

const NAMESPACE = "0123456789abcdef0123456789abcdef";
const MAIN = "index.js";
const BUCKET = "state";

/**
 * Runs a module with one Durable Object class in workerd, which its binding `OBJECT` leads to, and an empty bucket, for a test.
 * Imports are resolved from the project's root. Gives a function that posts JSON and returns the JSON answer.
 */
export async function durableObject(
  source: string,
  className: string,
): Promise<(body: unknown) => Promise<unknown>> {
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
  const dir = await temporaryDirectory();
  const runner = createRunner({
    dir: join(dir, "storage"),
    containers: { kind: "process", supervise: { command: [process.execPath], dir: join(dir, "containers") } },
    log: () => {},
  });
  onTestFinished(() => runner.close());
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
  const url = new URL("/", await runner.address("object"));
  return async (body) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
}
