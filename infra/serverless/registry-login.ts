import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Cloudflare from "cloudflare";
import { StewardError } from "../../runtime/contract/errors.ts";
import { run } from "../shell/process.ts";

/** Whose registry. */
export interface RegistryAccount {
  accountId: string;
  /** Host, with a port where it has one. */
  registry: string;
}

/** As long as Cloudflare's own command line asks for: enough for a push, and nothing that is worth stealing. */
const VALID_MINUTES = 15;

/**
 * Runs `work` with an environment in which the `docker` command may push, with credentials that are issued for it.
 * They lie in a folder of their own, never in the user's Docker configuration, an argument or a log, and go with it.
 *
 * @throws StewardError `registry_refused` where none are issued.
 */
export async function withRegistryLogin<T>(
  client: Cloudflare,
  { accountId, registry }: RegistryAccount,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const { username, password } = await issue(client, { accountId, registry });
  const folder = await mkdtemp(join(tmpdir(), "steward-registry-"));
  try {
    const auth = Buffer.from(`${username}:${password}`).toString("base64");
    const config = JSON.stringify({ auths: { [registry]: { auth } } });
    await writeFile(join(folder, "config.json"), config, { mode: 0o600 });
    return await work({ ...process.env, ...(await engineAddress()), DOCKER_CONFIG: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** https://developers.cloudflare.com/api/resources/containers/subresources/registries/subresources/credentials/ */
async function issue(client: Cloudflare, { accountId, registry }: RegistryAccount) {
  const request = {
    account_id: accountId,
    expiration_minutes: VALID_MINUTES,
    permissions: ["push" as const, "pull" as const],
  };
  return client.containers.registries.credentials.generate(registry, request).catch((error: unknown) => {
    const cause = error instanceof Error ? error.message : String(error);
    throw new StewardError("registry_refused", `Cloudflare issues no credentials for ${registry}: ${cause}`, {
      cause: error,
    });
  });
}

/** Another configuration folder has no contexts: the engine of the one in use is named outright. */
async function engineAddress(): Promise<{ DOCKER_HOST?: string }> {
  if (process.env["DOCKER_HOST"]) return {};
  const { code, stdout } = await run("docker", [
    "context",
    "inspect",
    "--format",
    "{{.Endpoints.docker.Host}}",
  ]);
  const address = stdout.trim();
  return code === 0 && address !== "" ? { DOCKER_HOST: address } : {};
}
