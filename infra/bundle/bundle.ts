import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { configJsonSchema } from "../../runtime/contract/config/json-schema.ts";
import { ROOT } from "../shell/package.ts";
import { loadOrBuild } from "./build-cache.ts";
import { type Built, builtSchema, bundleFolders, BUNDLE_HASH_LENGTH } from "./built.ts";
import { readBuildRecord } from "./released.ts";

/**
 * The Worker's compatibility date and flags:
 * https://developers.cloudflare.com/workers/configuration/compatibility-dates/
 */
export const COMPATIBILITY = { date: "2026-11-01", flags: ["nodejs_compat"] } as const;

/** One module of the Worker: either code or an asset of the pages. */
interface WorkerModule {
  name: string;
  path: string;
  contentType: string;
}

/** Deployable content for both targets. Each folder's name contains a hash of its content. */
export interface Bundle {
  hash: string;
  worker: { dir: string; mainModule: string; files: WorkerModule[]; hash: string };
  /**
   * `dir`: content of the image's /app, with the programs `supervisor/main.js`, `gateway/main.js`, `host/main.js`,
   * `gateway/cli/main.js` (command line), `gateway/replay/main.js` (rollouts) and `host/warm.js` (image build).
   * `context`: build context of the image. `hash`: the image's tag.
   */
  container: { dir: string; context: string; hash: string };
}

/** Inputs of a bundle, besides the package files that the bundler reads. */
const SOURCES = [
  "runtime",
  "infra/bundle",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "node_modules/.package-lock.json",
];

/**
 * Bundles the Worker and the container. Reuses a bundle if the released package contains one or the inputs have not
 * changed.
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
    // Import lazily, because a released package does not have the bundler.
    build: async () => (await import("./build.ts")).build(outdir, schema),
  });
}
