import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import {
  Log as MiniflareLog,
  LogLevel,
  Miniflare,
  MiniflareCoreError,
  type MiniflareOptions,
} from "miniflare";
import type { Bucket, ContainerMode, DeployedAccount, Log, WorkerRunner } from "./runner.ts";
import { killInContainers, removeContainers } from "./runner/docker.ts";
import { imageId } from "../../infra/shell/docker.ts";
import { endStrayProcesses, processMark } from "../stray-processes.ts";
import { ProcessHost } from "./runner/process-host.ts";
import { workerConfig } from "./runner/worker-config.ts";

/** Name of a Worker that binds every bucket, so that buckets are readable without a deployed script. */
const STORAGE_WORKER = "rehearsal-storage";
const DOCKER_SOCKET = "unix:///var/run/docker.sock";
const NOTHING: DeployedAccount = { scripts: [], buckets: [], namespaces: [], boundNamespaces: [] };

export interface RunnerOptions {
  dir: string;
  containers: ContainerMode;
  log: Log;
}

/**
 * Creates a runner with one workerd process, which stores its data in `dir`. A changed deployment restarts the
 * process. As on Cloudflare, storage and containers survive the restart.
 */
export function createRunner(options: RunnerOptions): WorkerRunner {
  return new MiniflareRunner(options);
}

class MiniflareRunner implements WorkerRunner {
  readonly #options: RunnerOptions;
  readonly #storage: string;
  readonly #host: ProcessHost;
  #hostAddress: Promise<string> | undefined;
  #deployed: DeployedAccount = NOTHING;
  #runtime: { miniflare: Miniflare; key: string; buckets: readonly string[] } | undefined;
  // The last queued operation. Deployments and requests run one after the other.
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RunnerOptions) {
    const { dir, containers, log } = options;
    this.#options = options;
    this.#storage = resolve(dir, "storage");
    this.#host = new ProcessHost({
      ...(containers.kind === "process" && { supervise: containers.supervise }),
      mark: processMark(this.#storage),
      mostContainers: (namespaceId) => {
        const { boundNamespaces, maxInstances = {} } = this.#deployed;
        return boundNamespaces.includes(namespaceId) ? (maxInstances[namespaceId] ?? Infinity) : undefined;
      },
      log,
    });
  }

  apply(deployed: DeployedAccount): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#deployed;
      if (before === NOTHING) {
        endStrayProcesses(this.#storage);
        await this.#removeLeftovers(deployed.namespaces);
      }
      // Gracefully stop the containers that Miniflare would kill.
      const ending = endingNamespaces(before, deployed);
      await Promise.all(ending.map((id) => this.stopContainers(id)));
      this.#deployed = deployed;
      try {
        await this.#start(deployed);
      } catch (error) {
        this.#deployed = before;
        await this.#start(before);
        throw error;
      }
      // A container may have started during the deployment. Stop it too.
      await Promise.all(ending.map((id) => this.stopContainers(id)));
      this.#removeStorage();
    });
  }

  address(script: string): Promise<URL | undefined> {
    return this.#inTurn(() => this.#address(script));
  }

  connect(script: string): Promise<Socket | undefined> {
    return this.#inTurn(async () => {
      const address = await this.#address(script);
      if (address === undefined) return undefined;
      const socket = connect({ host: "127.0.0.1", port: Number(address.port) });
      await once(socket, "connect");
      return socket;
    });
  }

  bucketIsEmpty(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const listed = await (await this.#bucket(name))?.list({ limit: 1 });
      return listed === undefined || listed.objects.length === 0;
    });
  }

  withBucket<T>(name: string, work: (bucket: Bucket) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const bucket = await this.#bucket(name);
      if (bucket === undefined)
        throw new Error(`workerd is not running, so the bucket ${name} is unavailable`);
      return work(bucket);
    });
  }

  async stopContainers(namespaceId: string): Promise<void> {
    await this.#host.stop(namespaceId);
    if (this.#options.containers.kind === "docker") await removeContainers(namespaceId);
  }

  async killInContainer(pid: number): Promise<void> {
    if (this.#options.containers.kind === "process") process.kill(pid, "SIGKILL");
    else
      await Promise.all(this.#deployed.namespaces.map((namespaceId) => killInContainers(namespaceId, pid)));
  }

  async imageProblem(image: string): Promise<string | undefined> {
    const { containers } = this.#options;
    if (containers.kind !== "docker") return undefined;
    const name = containers.image(image);
    const isHere = (await imageId(name)) !== undefined;
    return isHere ? undefined : `${name} is not on this machine; \`npm run image\` builds this checkout's`;
  }

  containerLog(): string[] {
    return this.#host.lines;
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      // Stop the containers first, while the Durable Objects can still observe their exit.
      await Promise.all(this.#deployed.namespaces.map((id) => this.stopContainers(id)));
      await this.#stop();
      await this.#removeLeftovers(this.#deployed.namespaces);
      await this.#host.close();
    });
  }

  async #address(script: string): Promise<URL | undefined> {
    if (!this.#deployed.scripts.some(({ name }) => name === script)) return undefined;
    return this.#runtime?.miniflare.unsafeGetDirectURL(script);
  }

  async #bucket(name: string) {
    if (!this.#runtime?.buckets.includes(name)) {
      await this.#restart({ ...this.#deployed, buckets: [...new Set([...this.#deployed.buckets, name])] });
    }
    return this.#runtime?.miniflare.getR2Bucket(name, STORAGE_WORKER);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #start(deployed: DeployedAccount): Promise<void> {
    if (deployed.scripts.length === 0) return this.#stop();
    if (this.#runtime?.key !== keyOf(deployed, this.#options.containers)) await this.#restart(deployed);
  }

  // Changes the options of the running Miniflare, because disposing of it would end its containers.
  async #restart(deployed: DeployedAccount): Promise<void> {
    const options = await this.#miniflareOptions(deployed);
    const began = performance.now();
    const miniflare = this.#runtime?.miniflare;
    // Clear the key first: if applying the new options fails, the runtime must not count as still running with the
    // previous options.
    if (this.#runtime) this.#runtime.key = "";
    this.#runtime = {
      miniflare: miniflare ? await changed(miniflare, options) : await created(options),
      key: keyOf(deployed, this.#options.containers),
      buckets: deployed.buckets,
    };
    const scripts = deployed.scripts.map(({ name, versionId }) => `${name}@${versionId}`);
    this.#options.log("workerd runs", { scripts, ms: Math.round(performance.now() - began) });
  }

  async #stop(): Promise<void> {
    const runtime = this.#runtime;
    this.#runtime = undefined;
    await runtime?.miniflare.dispose();
  }

  async #miniflareOptions(deployed: DeployedAccount): Promise<MiniflareOptions> {
    const { containers, log } = this.#options;
    this.#hostAddress ??= this.#host.listen();
    const host = await this.#hostAddress;
    const running = this.#host.running;
    const scripts = deployed.scripts.map((script) => workerConfig(script, { containers, host, running }));
    return {
      host: "127.0.0.1",
      port: 0,
      cf: false,
      log: new MiniflareLog(LogLevel.NONE),
      handleStructuredLogs: ({ level, message }) => log(message, { source: "worker", level }),
      handleUncaughtError: (error) => log(error.message, { source: "worker", level: "error" }),
      resourcePersistencePath: this.#storage,
      unsafeRuntimeEnv: processMark(this.#storage),
      telemetry: { enabled: false },
      ...(containers.kind === "docker" && {
        containerEngine: {
          localDocker: {
            socketPath: containers.socket ?? DOCKER_SOCKET,
            containerEgressInterceptorImage: containers.sidecarImage,
          },
        },
      }),
      workers: [storageWorker(deployed.buckets), ...(await Promise.all(scripts))],
    };
  }

  async #removeLeftovers(namespaces: readonly string[]): Promise<void> {
    if (this.#options.containers.kind !== "docker") return;
    await Promise.all(namespaces.map((id) => removeContainers(id)));
  }

  /** Removes the databases of deleted namespaces. The name of a database's directory is its namespace's id. */
  #removeStorage(): void {
    const kept = new Set(this.#deployed.namespaces);
    const dir = join(this.#storage, "do");
    for (const name of readdirIfThere(dir)) {
      if (/^[0-9a-f]{32}$/.test(name) && !kept.has(name)) rmSync(join(dir, name), { recursive: true });
    }
  }
}

async function created(options: MiniflareOptions): Promise<Miniflare> {
  const miniflare = new Miniflare(options);
  try {
    await miniflare.ready;
    return miniflare;
  } catch (error) {
    await miniflare.dispose().catch(() => undefined);
    throw error;
  }
}

async function changed(miniflare: Miniflare, options: MiniflareOptions): Promise<Miniflare> {
  try {
    await miniflare.setOptions(options);
  } catch (error) {
    if (!(error instanceof MiniflareCoreError) || error.code !== "ERR_ADDRESS_IN_USE") throw error;
    await miniflare.setOptions(withOtherPorts(options));
  }
  return miniflare;
}

/** Removes the ports: for port 0, Miniflare keeps the former port, which another program may have taken. */
function withOtherPorts(options: MiniflareOptions): MiniflareOptions {
  const workers = options.workers.map(({ dev, ...worker }) => {
    const unsafeDirectSockets = dev?.unsafeDirectSockets?.map((socket) => ({ ...socket, port: undefined }));
    return { ...worker, dev: { ...dev, unsafeDirectSockets } };
  });
  return { ...options, port: undefined, workers };
}

function storageWorker(buckets: readonly string[]): MiniflareOptions["workers"][number] {
  return {
    config: {
      name: STORAGE_WORKER,
      compatibilityDate: "2026-01-01",
      manifest: {
        mainModule: "index.js",
        modulesRoot: "/",
        modules: {
          "index.js": {
            type: "esm",
            contents: "export default { fetch: () => new Response(null, { status: 404 }) }",
          },
        },
      },
      env: Object.fromEntries(buckets.map((name) => [name, { type: "r2", name }])),
    },
  };
}

/**
 * Returns the namespaces whose container image the new deployment changes or removes. The containers of these
 * namespaces must stop.
 */
function endingNamespaces(before: DeployedAccount, after: DeployedAccount): string[] {
  const images = imagesOf(after);
  return [...imagesOf(before)].flatMap(([id, image]) => (images.get(id) === image ? [] : [id]));
}

function imagesOf(deployed: DeployedAccount): Map<string, string> {
  const classes = deployed.scripts.flatMap((script) => script.classes);
  return new Map(classes.flatMap(({ namespaceId, image }) => (image ? [[namespaceId, image]] : [])));
}

/** Returns a key that changes if workerd must restart for the deployment. Ignores buckets that no script binds. */
function keyOf(deployed: DeployedAccount, containers: ContainerMode): string {
  const scripts = deployed.scripts.map(({ modules, classes, ...rest }) => ({
    ...rest,
    modules: modules.map(({ name, contentType, sha256 }) => [name, contentType, sha256]),
    // With Docker, a changed image requires a restart, because workerd reads image names only at startup.
    classes: classes.map(({ image, ...one }) => (containers.kind === "docker" ? { ...one, image } : one)),
  }));
  return createHash("sha256").update(JSON.stringify(scripts)).digest("hex");
}

function readdirIfThere(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
