import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { expect } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { listenOnLoopback } from "../../rehearsal/loopback.ts";
import { execute } from "../../scripts/execute.ts";
import { succeed } from "../journeys/typed.ts";
import type { Project } from "./project.ts";
import { startPackageRegistry } from "./verdaccio.ts";

const { version: A } = packageJson;

/** Difference of a published version to the packed package, beside version, changelog and hashes. */
interface Changes {
  worker?: (text: string) => string;
  /** Changes the gateway's program in the image. Default: the image is the packed package's. */
  gateway?: (text: string) => string;
}

/** Versions of the package at a registry of a project's own. */
export interface PublishedVersions {
  /** Publishes the packed package under another version, with the tag `latest` or none that npm takes by itself. */
  publish(version: string, changes?: Changes, tag?: string): Promise<void>;
  /** Publishes a version without a program, for an upgrade that ends before it needs one. */
  publishEmpty(version: string, dependencies: Record<string, string>): Promise<void>;
  close(): Promise<void>;
}

/** Starts a registry that has the package as a project has it, and makes it the project's. */
export async function publishVersions({ shell, pack }: Project): Promise<PublishedVersions> {
  const registry = await startPackageRegistry();
  // Every other package comes from where npm takes it here.
  const usual = (await execute("npm", ["config", "get", "registry"])).trim();
  const app = new Hono().get("*", ({ req, redirect }) =>
    redirect(new URL(req.path.slice(1), req.path.startsWith("/steward-gateway") ? registry.url : usual).href),
  );
  const front = await listenOnLoopback(createAdaptorServer(app) as never, 0);
  await writeFile(path.join(shell.folder, ".npmrc"), `registry=${front.url}\n`);

  async function send(version: string, tag: string, fill: (folder: string) => Promise<void>): Promise<void> {
    const folder = path.join(path.dirname(shell.folder), `published-${version}`);
    await mkdir(folder);
    await fill(folder);
    const login = `--registry=${registry.url} --userconfig=${registry.settings}`;
    await succeed(shell, `npm publish --silent ${login} --tag=${tag} ${folder}`);
  }
  const unpack = async (folder: string): Promise<void> => {
    await execute("tar", ["-xzf", await pack(), "-C", folder, "--strip-components=1"]);
  };
  await send(A, "latest", unpack);
  return {
    publish: (version, changes = {}, tag = "other") =>
      send(version, tag, async (folder) => {
        await unpack(folder);
        await makeVersion(folder, version, changes);
      }),
    publishEmpty: (version, dependencies) =>
      send(version, "other", async (folder) => {
        const manifest = { name: "steward-gateway", version, dependencies };
        await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
        await writeFile(path.join(folder, "CHANGELOG.md"), newChanges(version));
      }),
    async close() {
      await front.close();
      await registry.close();
    },
  };
}

function newChanges(version: string): string {
  return `## [${version}] - 2026-12-01\n\n- What ${version} changes.\n\n## [${A}] - 2026-11-27\n\n- What ${A} has.\n`;
}

/** Makes an unpacked package one of another version. */
async function makeVersion(folder: string, version: string, { worker, gateway }: Changes): Promise<void> {
  const change = async (name: string, to: (text: string) => string): Promise<void> => {
    const file = path.join(folder, name);
    const text = await readFile(file, "utf8");
    expect(to(text)).not.toBe(text);
    await writeFile(file, to(text));
  };
  const renumber = (text: string): string => text.replaceAll(`"${A}"`, `"${version}"`);
  await change("package.json", (text) => text.replace(`"version": "${A}"`, `"version": "${version}"`));
  await change("runtime/contract/names.js", renumber);
  await change("CHANGELOG.md", (text) => text.replace(/^## [^]*$/m, newChanges(version)));
  const released = await readFile(path.join(folder, "dist/released.json"), "utf8");
  const built = JSON.parse(released) as Record<"worker" | "container", string>;
  await change(`dist/worker-${built.worker}/index.js`, (text) => worker?.(renumber(text)) ?? renumber(text));
  const hash = version.replaceAll(".", "").padStart(built.worker.length, "0");
  await rename(path.join(folder, `dist/worker-${built.worker}`), path.join(folder, `dist/worker-${hash}`));
  await change("dist/released.json", (text) => text.replace(built.worker, hash));
  if (gateway === undefined) return;

  const app = path.join(folder, "app");
  const archive = path.join(folder, `dist/image-${built.container}/app.tar`);
  await execute("tar", ["-xpf", archive, "-C", folder]);
  await writeFile(path.join(app, "bundle"), hash);
  await writeFile(
    path.join(app, "gateway/main.js"),
    gateway(await readFile(path.join(app, "gateway/main.js"), "utf8")),
  );
  for (const name of await readdir(path.join(app, "chunks"))) {
    const file = path.join(app, "chunks", name);
    await writeFile(file, renumber(await readFile(file, "utf8")));
  }
  await execute("tar", ["-cf", archive, "-C", folder, "app"]);
  await rm(app, { recursive: true });
  for (const kind of ["container", "image"]) {
    await rename(
      path.join(folder, `dist/${kind}-${built.container}`),
      path.join(folder, `dist/${kind}-${hash}`),
    );
  }
  await change("dist/released.json", (text) => text.replace(built.container, hash));
}
