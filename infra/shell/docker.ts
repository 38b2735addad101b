import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { parseJson } from "../../runtime/shared/json.ts";
import { BuildFailure } from "./failure.ts";
import { type Finished, runProcess, type RunOptions, tail } from "./process.ts";

export type DockerState = { ok: true; version: string; arch: string } | { ok: false; reason: string };

/** Timeout of Docker commands that only read. */
const ANSWER_MS = 10_000;
const SILENT = `the Docker engine did not answer within ${ANSWER_MS / 1000} s`;

/** Timeout in milliseconds for pulling a public image (about 30 MB). If it expires, the image is built locally. */
const PULL_MS = 60_000;

export interface DockerEngine {
  /** `unix://…`, `ssh://…` or `tcp://…`. */
  address: string;
  /** Origin of the address, for previews. */
  source: string;
  env: NodeJS.ProcessEnv;
  /** Arguments that the Pulumi provider needs to reach this engine. Empty if none are needed. */
  provider: { host?: string; context?: string; certPath?: string };
}

/** Returns the environment in which the `docker` command uses `dockerHost`. Default: the current engine. */
export function dockerEnvironment(dockerHost: string | undefined): NodeJS.ProcessEnv {
  return { ...process.env, ...(dockerHost && { DOCKER_HOST: dockerHost }) };
}

const DEFAULT_ADDRESS = "unix:///var/run/docker.sock";

/**
 * Finds the Docker engine's address in the same order as the `docker` command: the given address, `DOCKER_HOST`, the
 * current context. The Pulumi provider itself ignores the current context.
 */
export async function resolveEngine(
  configured: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<DockerEngine> {
  // The Pulumi provider would prefer `DOCKER_CONTEXT` to any address.
  const context = env["DOCKER_CONTEXT"] ? { context: "" } : {};
  const at = (address: string, source: string, host: boolean): DockerEngine => ({
    address,
    source,
    env: { ...env, DOCKER_HOST: address },
    provider: host ? { host: address, ...context } : context,
  });
  if (configured !== undefined) return at(configured, "steward:docker", true);
  const { DOCKER_HOST: named } = env;
  if (named) return at(named, "DOCKER_HOST", context.context !== undefined);
  const asked = await runProcess("docker", ["context", "inspect"], { env, timeoutMs: ANSWER_MS });
  // The docker command is missing, or too old to support contexts.
  if (asked.code !== 0) return at(DEFAULT_ADDRESS, "default", false);
  const [{ Name, Endpoints, TLSMaterial, Storage }] = JSON.parse(asked.stdout) as [Context];
  const address = Endpoints.docker.Host;
  const engine = at(address, `context ${Name}`, address !== DEFAULT_ADDRESS);
  if (TLSMaterial?.docker === undefined) return engine;
  const certPath = join(Storage.TLSPath, "docker");
  return {
    ...engine,
    env: { ...engine.env, DOCKER_CERT_PATH: certPath, DOCKER_TLS_VERIFY: "1" },
    provider: { ...engine.provider, certPath },
  };
}

interface Context {
  Name: string;
  Endpoints: { docker: { Host: string } };
  TLSMaterial?: { docker?: string[] };
  Storage: { TLSPath: string };
}

/** Checks whether the Docker engine selected by `env` answers. Takes at most 10 s and never throws. */
export async function dockerAvailable(env: NodeJS.ProcessEnv = process.env): Promise<DockerState> {
  const format = "{{.Server.Version}} {{.Server.Arch}}";
  const asked = await runProcess("docker", ["version", "--format", format], { env, timeoutMs: ANSWER_MS });
  if (asked.missing) return { ok: false, reason: "the docker command is not installed" };
  if (asked.timedOut) return { ok: false, reason: SILENT };
  const [version, arch] = asked.stdout.trim().split(" ");
  if (asked.code !== 0 || !version || !arch) {
    return { ok: false, reason: tail(asked, 1) || "the Docker engine did not answer" };
  }
  return { ok: true, version, arch };
}

/**
 * Like {@link dockerAvailable}.
 *
 * @throws BuildFailure `docker_unavailable` if the engine is unavailable
 */
export async function requireDocker(
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ version: string; arch: string }> {
  const state = await dockerAvailable(env);
  if (state.ok) return state;
  throw unavailable(state.reason);
}

function unavailable(reason: string): BuildFailure {
  const fix = "Install Docker and start its engine (https://docs.docker.com/engine/install/).";
  return new BuildFailure("docker_unavailable", reason, fix);
}

/**
 * Runs the `docker` command.
 *
 * @throws BuildFailure `docker_unavailable` if the client or engine is unavailable; `docker_failed`, with the
 * command's output, if the command fails for another reason
 */
export async function docker(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const finished = await runProcess("docker", args, { ...options, env: dockerEnv(options.env) });
  if (finished.code === 0) return finished;
  await requireDocker(options.env);
  const ended = finished.timedOut ? `took longer than ${options.timeoutMs} ms` : `exit code ${finished.code}`;
  throw new BuildFailure(
    "docker_failed",
    `docker ${args.slice(0, 2).join(" ")} failed (${ended}):\n${tail(finished)}`,
    "Read Docker's message above; `docker info` shows the state of its engine.",
  );
}

/**
 * Selects the engine's default builder, because others may not see or store local images. Disables attestations, which
 * would turn a pushed image into a list of manifests:
 * https://docs.docker.com/build/building/variables/#buildx_no_default_attestations
 */
function dockerEnv(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, BUILDX_BUILDER: "default", BUILDX_NO_DEFAULT_ATTESTATIONS: "1" };
}

/**
 * Returns an image's id; `undefined` if the engine does not have the image.
 *
 * @throws BuildFailure `docker_unavailable` if the engine does not answer in time: the image may exist
 */
export function imageId(image: string, env?: NodeJS.ProcessEnv): Promise<string | undefined> {
  return inspectImage(image, "{{.Id}}", env);
}

export async function imageLabel(image: string, label: string): Promise<string> {
  return (await inspectImage(image, `{{index .Config.Labels "${label}"}}`)) ?? "";
}

async function inspectImage(
  image: string,
  format: string,
  env?: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const found = await runProcess("docker", ["image", "inspect", "--format", format, image], {
    env: dockerEnv(env),
    timeoutMs: ANSWER_MS,
  });
  if (found.timedOut) throw unavailable(SILENT);
  return found.code === 0 ? found.stdout.trim() : undefined;
}

/** Pulls an image. If that fails or takes longer than a minute, logs the reason and returns false. */
export async function tryPull(
  image: string,
  options: { log: (line: string) => void; env?: NodeJS.ProcessEnv },
): Promise<boolean> {
  const pulled = await runProcess("docker", ["pull", "--quiet", image], {
    env: dockerEnv(options.env),
    timeoutMs: PULL_MS,
  });
  if (pulled.code === 0) return true;
  const why = pulled.timedOut ? `timed out after ${PULL_MS / 1000} s` : tail(pulled, 1);
  options.log(`${image} cannot be pulled (${why}): building one locally`);
  return false;
}

export type RegistryLogin = Record<"username" | "password", string>;

/**
 * Runs `work` in an environment where `docker` is logged in to the registry. Stores the credentials only in a
 * temporary folder.
 *
 * @param registry host, with a port unless it is the default
 */
export async function withRegistryLogin<T>(
  registry: string,
  { username, password }: RegistryLogin,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "steward-registry-"));
  try {
    const auth = Buffer.from(`${username}:${password}`).toString("base64");
    const config = JSON.stringify({ auths: { [registry]: { auth } } });
    await writeFile(join(folder, "config.json"), config, { mode: 0o600 });
    // The temporary configuration has no contexts, so set the current engine's address.
    const { env } = await resolveEngine(undefined);
    return await work({ ...env, DOCKER_CONFIG: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** https://docs.docker.com/reference/cli/docker/login/#credential-stores */
const configSchema = z.object({
  auths: z.record(z.string(), z.object({ auth: z.string().optional() })).default({}),
  credHelpers: z.record(z.string(), z.string()).default({}),
  credsStore: z.string().optional(),
});
/** https://github.com/docker/docker-credential-helpers#development */
const helperSchema = z.object({ Username: z.string(), Secret: z.string() });

const HELPER_MS = 10_000;

/**
 * Returns the user's Docker login for a registry. Returns `undefined` if none is found, because the registry may need
 * no login.
 *
 * @param host key in Docker's configuration
 */
export async function dockerLogin(host: string, env: NodeJS.ProcessEnv): Promise<RegistryLogin | undefined> {
  const folder = env["DOCKER_CONFIG"] || join(env["HOME"] || homedir(), ".docker");
  const text = await readFile(join(folder, "config.json"), "utf8").catch(() => "{}");
  const config = configSchema.safeParse(parseJson(text)).data;
  const helper = config?.credHelpers[host] ?? config?.credsStore;
  const told = helper === undefined ? undefined : await askHelper(helper, host, env);
  return told ?? loginOf(config?.auths[host]?.auth);
}

async function askHelper(
  helper: string,
  host: string,
  env: NodeJS.ProcessEnv,
): Promise<RegistryLogin | undefined> {
  const options = { env, input: host, timeoutMs: HELPER_MS };
  const { code, stdout } = await runProcess(`docker-credential-${helper}`, ["get"], options);
  const told = code === 0 ? helperSchema.safeParse(parseJson(stdout)).data : undefined;
  return told && { username: told.Username, password: told.Secret };
}

function loginOf(auth = ""): RegistryLogin | undefined {
  const text = Buffer.from(auth, "base64").toString();
  const colon = text.indexOf(":");
  if (colon < 1) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
