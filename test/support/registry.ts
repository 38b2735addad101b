import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "../../infra/shell/process.ts";
import { freePort } from "./ports.ts";

export const noRegistry: string[] = (await runProcess("docker-registry", ["--version"])).missing
  ? ["no docker-registry"]
  : [];
if (noRegistry.length > 0 && process.env["CI"]) {
  throw new Error("CI skips nothing, and docker-registry is missing");
}

/** HTPASSWD contains the password as a bcrypt hash, the only kind that the registry supports. */
export const REGISTRY_LOGIN = { username: "pusher", password: "the-password-that-pushes-0123" };
const HTPASSWD = "pusher:$2b$04$PoKnssQVjyhgmM6V09nqiO.yzGrsGNWh49PR.VJIWR/CPi4ckvzpy\n";

export interface Registry {
  host: string;
  /** https://distribution.github.io/distribution/spec/api/#existing-manifests */
  digest(repository: string, tag: string): Promise<string | null>;
  repositories(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Starts Debian's `docker-registry`.
 *
 * @param isPublic Allows anonymous access. Default: the registry requires {@link REGISTRY_LOGIN}.
 */
export async function startRegistry({ isPublic = false } = {}): Promise<Registry> {
  const dir = await mkdtemp(join(tmpdir(), "steward-registry-"));
  const host = `127.0.0.1:${await freePort()}`;
  const config = {
    version: "0.1",
    log: { level: "error" },
    storage: { filesystem: { rootdirectory: join(dir, "data") } },
    http: { addr: host },
    ...(!isPublic && { auth: { htpasswd: { realm: "steward", path: join(dir, "htpasswd") } } }),
  };
  await writeFile(join(dir, "htpasswd"), HTPASSWD);
  // The registry expects YAML, and JSON is valid YAML.
  await writeFile(join(dir, "config.yml"), JSON.stringify(config));
  const child = spawn("docker-registry", ["serve", join(dir, "config.yml")], { stdio: "ignore" });
  const { username, password } = REGISTRY_LOGIN;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://${host}${path}`, { headers: { authorization, ...headers } });
  const end = Date.now() + 120_000;
  while (!(await ask("/v2/").catch(() => undefined))?.ok) {
    if (Date.now() > end) throw new Error("the registry does not come up");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    host,
    async digest(repository, tag) {
      const accept = "application/vnd.docker.distribution.manifest.v2+json";
      const { headers } = await ask(`/v2/${repository}/manifests/${tag}`, { accept });
      return headers.get("docker-content-digest");
    },
    async repositories() {
      const catalog = (await (await ask("/v2/_catalog")).json()) as { repositories: string[] };
      return catalog.repositories;
    },
    async close() {
      const ended = once(child, "close");
      child.kill();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
