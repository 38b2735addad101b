import type { Socket } from "node:net";
import type { Miniflare } from "miniflare";
import type { BindingRecord } from "./account/state.ts";

/** Logs an event, with optional fields. Never receives a secret. */
export type Log = (message: string, fields?: Record<string, unknown>) => void;

/** A Durable Object class of a deployed script. */
export interface DeployedClass {
  className: string;
  /** Also the key of its storage on disk and the prefix of its containers' names. */
  namespaceId: string;
  sqlite: boolean;
  containerEnabled: boolean;
  /** The image of the container application that is tied to the namespace; without one nothing can be started. */
  image?: string;
}

interface DeployedModule {
  name: string;
  contentType: string;
  sha256: string;
  content: Uint8Array;
}

/** A script with the version that serves. */
export interface DeployedScript {
  name: string;
  versionId: string;
  versionCreatedOn: string;
  mainModule: string;
  modules: DeployedModule[];
  bindings: BindingRecord[];
  compatibilityDate: string;
  compatibilityFlags: string[];
  classes: DeployedClass[];
}

/** Everything that an account has deployed. Storage of what is not named here is removed. */
export interface DeployedAccount {
  scripts: DeployedScript[];
  buckets: string[];
  namespaces: string[];
  /** The namespaces that a container application is tied to. */
  boundNamespaces: string[];
  /**
   * The most containers that a namespace's application runs at a time. Default of each: no limit. Not modelled on Docker,
   * where workerd starts the containers itself and asks nobody.
   */
  maxInstances?: Readonly<Record<string, number>>;
}

/**
 * How a class's container comes to be.
 * `docker`: through workerd's own `ctx.container` and a Docker engine, without a bound on their number. `image` maps the application's image
 * reference to one that the engine has; `sidecarImage` is workerd's egress sidecar; `socket` defaults to
 * unix:///var/run/docker.sock.
 * `process`: `supervise.command` as a local process with a directory of its own below `supervise.dir`.
 */
export type ContainerMode =
  | { kind: "docker"; image: (imageRef: string) => string; sidecarImage: string; socket?: string }
  | { kind: "process"; supervise: { command: string[]; dir: string; env?: Record<string, string> } };

/** A bucket as a Worker's binding has it. */
export type Bucket = Awaited<ReturnType<Miniflare["getR2Bucket"]>>;

/** Runs what is deployed, and holds its storage. */
export interface WorkerRunner {
  /**
   * Makes what runs equal to what is deployed. Running containers stay, as they do at Cloudflare, unless their
   * namespace or application is gone.
   * @throws when workerd refuses the bundle; what ran before runs again
   */
  apply(deployed: DeployedAccount): Promise<void>;
  /** Where a script answers over HTTP on this machine, undefined while it is not deployed. Waits for a running apply. */
  address(script: string): Promise<URL | undefined>;
  /**
   * Opens a connection to a script; `undefined` while it is not deployed. While a change is applied, the script's port
   * may pass to another program: a connection that was opened before still reaches the script.
   */
  connect(script: string): Promise<Socket | undefined>;
  bucketIsEmpty(name: string): Promise<boolean>;
  /** Runs `work` on a bucket of the account, whether or not a script binds it. */
  withBucket<T>(name: string, work: (bucket: Bucket) => Promise<T>): Promise<T>;
  /** Stops a namespace's containers (SIGTERM, a grace period, SIGKILL): the next request starts new ones. */
  stopContainers(namespaceId: string): Promise<void>;
  /** Kills a process of a running container at once. `pid` is what the container itself calls it. */
  killInContainer(pid: number): Promise<void>;
  /** Returns why no container can run an image; `undefined` if one can. */
  imageProblem(image: string): Promise<string | undefined>;
  /** The last lines that containers in process mode wrote, oldest first. */
  containerLog(): string[];
  /** Stops everything. The storage stays. */
  close(): Promise<void>;
}
