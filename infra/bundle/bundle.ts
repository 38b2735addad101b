import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { configJsonSchema } from "../../runtime/contract/config/json-schema.ts";
import { ROOT } from "../shell/package.ts";
import { loadOrBuild } from "./build-cache.ts";
import { type Built, builtSchema, bundleFolders, BUNDLE_HASH_LENGTH } from "./built.ts";
import { readBuildRecord } from "./released.ts";

/**
 * The workerd behaviour that the Worker is built and tested for:
 * https://developers.cloudflare.com/workers/configuration/compatibility-dates/
 */
export const COMPATIBILITY = { date: "2026-11-01", flags: ["nodejs_compat"] } as const;

/** One file of the Worker, as the API takes it. The first is the main module; styles and scripts follow. */
interface WorkerModule {
  name: string;
  path: string;
  contentType: string;
}

/** Deployable content, the same for both stacks. Everything is named by the hash of its content, so it cannot be stale. */
export interface Bundle {
  /** Hash over Worker and container. */
  hash: string;
  worker: { dir: string; mainModule: string; files: WorkerModule[]; hash: string };
  /**
   * The image's /app: the pages' styles and scripts in `assets/`, and the entry points `supervisor/main.js`, `gateway/main.js`, `host/main.js`, the command
   * line `gateway/cli/main.js`, which `bin/steward` calls, `gateway/replay/main.js`, which a rollout runs, and
   * `host/warm.js`, which the image's build runs.
   * Its hash is over the image's recipe too, so it can name an image, which is built from `context`.
   */
  container: { dir: string; context: string; hash: string };
}

/** Sources of a bundle, beside the packages' files that were read for it. */
const SOURCES = [
  "runtime",
  "infra/bundle",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "node_modules/.package-lock.json",
];

/**
 * Bundles Worker and container from source into `<outdir>/<content hash>`; does nothing twice, and nothing at all
 * where everything that the former bundle was made of is still the same. A release has its bundle.
 */
export async function buildBundle({ outdir = path.join(ROOT, "dist") } = {}): Promise<Bundle> {
  const built = readBuildRecord() ?? (await buildFromSource(outdir));
  const { worker, container, image } = bundleFolders(outdir, built);
  const files = built.modules.map((name) => ({
    name,
    path: path.join(worker, name),
    contentType: name.endsWith(".js") ? "application/javascript+module" : "application/octet-stream",
  }));
  return {
    hash: createHash("sha256")
      .update(built.worker)
      .update(built.container)
      .digest("hex")
      .slice(0, BUNDLE_HASH_LENGTH),
    worker: { dir: worker, mainModule: "index.js", files, hash: built.worker },
    container: { dir: container, context: image, hash: built.container },
  };
}

async function buildFromSource(outdir: string): Promise<Built> {
  const schema = `${JSON.stringify(configJsonSchema())}\n`;
  return loadOrBuild({
    file: path.join(outdir, "built.json"),
    texts: [schema],
    root: ROOT,
    sources: SOURCES,
    result: builtSchema.refine((former) => Object.values(bundleFolders(outdir, former)).every(existsSync)),
    // Loaded when it is needed: it brings the bundler, which a release does not have.
    build: async () => (await import("./build.ts")).build(outdir, schema),
  });
}
