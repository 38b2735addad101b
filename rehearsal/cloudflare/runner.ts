import type { Socket } from "node:net";
import type { Miniflare } from "miniflare";
import type { BindingRecord } from "./account/state.ts";

/** Logs an event. Callers never pass a secret. */
export type Log = (message: string, fields?: Record<string, unknown>) => void;

export interface DeployedClass {
  className: string;
  /** Also its storage key and the prefix of its containers' names. */
  namespaceId: string;
  sqlite: boolean;
  containerEnabled: boolean;
  /** If absent, no container can start. */
  image?: string;
}

interface DeployedModule {
  name: string;
  contentType: string;
  sha256: string;
  content: Uint8Array;
}

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

/** The runner removes storage that is not listed here. */
export interface DeployedAccount {
  scripts: DeployedScript[];
  buckets: string[];
  namespaces: string[];
  boundNamespaces: string[];
  /** Maximum concurrent containers by namespace id. Default: no limit. Not enforced with Docker. */
  maxInstances?: Readonly<Record<string, number>>;
}

/**
 * `docker`: through workerd's `ctx.container`. `image` maps a reference to a local image; `sidecarImage` is workerd's
 * egress sidecar. Default socket: unix:///var/run/docker.sock.
 * `process`: a local process of `supervise.command`, with a directory below `supervise.dir`.
 */
export type ContainerMode =
  | { kind: "docker"; image: (imageRef: string) => string; sidecarImage: string; socket?: string }
  | { kind: "process"; supervise: { command: string[]; dir: string; env?: Record<string, string> } };

export type Bucket = Awaited<ReturnType<Miniflare["getR2Bucket"]>>;

/** Runs an account's deployment and stores its data. */
export interface WorkerRunner {
  /**
   * Applies a deployment. Containers survive, as at Cloudflare, unless their namespace or application was removed.
   * @throws if workerd rejects the bundle; the previous deployment is then restored
   */
  apply(deployed: DeployedAccount): Promise<void>;
  /** Returns a local address; `undefined` if the script is not deployed. Waits for a running `apply`. */
  address(script: string): Promise<URL | undefined>;
  /**
   * Opens a connection; `undefined` if the script is not deployed. Unlike a port, it stays valid if a change moves
   * the script.
   */
  connect(script: string): Promise<Socket | undefined>;
  bucketIsEmpty(name: string): Promise<boolean>;
  /** Runs `work` on a bucket, whether or not a script binds it. */
  withBucket<T>(name: string, work: (bucket: Bucket) => Promise<T>): Promise<T>;
  /** Stops a namespace's containers gracefully; the next request starts new ones. */
  stopContainers(namespaceId: string): Promise<void>;
  /** `pid` is the process id inside the container. */
  killInContainer(pid: number): Promise<void>;
  /** Returns why containers cannot run an image; `undefined` if they can. */
  imageProblem(image: string): Promise<string | undefined>;
  /** Returns recent output of containers in process mode, oldest first. */
  containerLog(): string[];
  /** Stops everything but preserves the storage. */
  close(): Promise<void>;
}
