import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cacheRoot, contentKey } from "../../infra/shell/cache.ts";
import { buildOnce } from "../../rehearsal/engine/build.ts";
import { execute } from "../../scripts/execute.ts";
import { freePort } from "../support/ports.ts";

/** Package and lock file of Verdaccio. It has 320 packages of its own, so it is no dependency of the checkout. */
const PACKAGE = resolve(import.meta.dirname, "verdaccio");
const PROGRAM = "node_modules/verdaccio/bin/verdaccio";

/** A registry of npm's kind on loopback, which is empty. */
export interface PackageRegistry {
  url: string;
  /** npm's settings file, with the registry and a login that may publish. */
  settings: string;
  close(): Promise<void>;
}

/** Installs Verdaccio into the cache, unless it is there. Returns its program. */
async function installed(): Promise<string> {
  const key = await contentKey([], PACKAGE, /\.json$/);
  const folder = join(cacheRoot(process.env), `verdaccio/${key}`);
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const install = async (target: string): Promise<void> => {
    log("installing Verdaccio, once for this machine");
    await cp(PACKAGE, target, { recursive: true });
    await execute("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: target });
  };
  await buildOnce(folder, join(folder, PROGRAM), install, log);
  return join(folder, PROGRAM);
}

/** Starts Verdaccio: https://verdaccio.org/docs/configuration */
export async function startPackageRegistry(): Promise<PackageRegistry> {
  const program = await installed();
  const folder = await mkdtemp(join(tmpdir(), "steward-npm-"));
  const host = `127.0.0.1:${await freePort()}`;
  const url = `http://${host}/`;
  const config = {
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd") } },
    packages: { "**": { access: "$all", publish: "$authenticated" } },
    max_body_size: "100mb",
    log: { type: "stdout", level: "error" },
  };
  // JSON is YAML.
  await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
  const words = [program, "--config", join(folder, "config.yaml"), "--listen", host];
  const child = spawn(process.execPath, words, {
    stdio: ["ignore", "inherit", "inherit"],
    // It would warn of root at each start.
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  const end = Date.now() + 120_000;
  while (!(await fetch(`${url}-/ping`).catch(() => undefined))?.ok) {
    if (Date.now() > end) throw new Error("Verdaccio does not come up");
    await new Promise((done) => setTimeout(done, 50));
  }
  // https://github.com/npm/registry/blob/main/docs/user/authentication.md
  const response = await fetch(`${url}-/user/org.couchdb.user:publisher`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "publisher", password: "the-password-that-publishes-0123" }),
  });
  const { token } = (await response.json()) as { token: string };
  const settings = join(folder, "npmrc");
  await writeFile(settings, `registry=${url}\n//${host}/:_authToken=${token}\n`, { mode: 0o600 });
  return {
    url,
    settings,
    async close() {
      const ended = once(child, "close");
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
