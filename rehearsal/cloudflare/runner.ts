import type { Socket } from "node:net";
import type { Miniflare } from "miniflare";
import type { BindingRecord } from "./account/state.ts";

/** Logs an event. Callers must not pass secrets. */
export type Log = (message: string, fields?: Record<string, unknown>) => void;

export interface DeployedClass {
  className: string;
  /** Namespace id, also used as storage key and in container names. */
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

/** Deployed state of an account. The runner removes the storage of namespaces that are not listed. */
export interface DeployedAccount {
  scripts: DeployedScript[];
  buckets: string[];
  namespaces: string[];
  boundNamespaces: string[];
  /** Maximum number of concurrent containers, by namespace id. Default: no limit. Not enforced with Docker. */
  maxInstances?: Readonly<Record<string, number>>;
}

/**
 * With `docker`, `image` returns the local image for an image reference, and `sidecarImage` is the image of workerd's
 * egress sidecar. `socket` defaults to unix:///var/run/docker.sock.
 *
 * With `process`, a local process that runs `supervise.command` replaces each container, in a directory of its own
 * below `supervise.dir`.
 */
export type ContainerMode =
  | { kind: "docker"; image: (imageRef: string) => string; sidecarImage: string; socket?: string }
  | { kind: "process"; supervise: { command: string[]; dir: string; env?: Record<string, string> } };

export type Bucket = Awaited<ReturnType<Miniflare["getR2Bucket"]>>;

/** Runs an account's deployed Workers and stores their data. */
export interface WorkerRunner {
  /**
   * Replaces the running deployment. As on Cloudflare, containers keep running, unless their namespace or application
   * was removed or the image changed.
   *
   * @throws if workerd rejects the new code; the previous deployment then runs again
   */
  apply(deployed: DeployedAccount): Promise<void>;
  /** Returns the script's local address; `undefined` if it is not deployed. Waits for a running `apply`. */
  address(script: string): Promise<URL | undefined>;
  /**
   * Opens a connection to a script; `undefined` if it is not deployed. If a new deployment moves the script to another
   * port, the connection stays usable.
   */
  connect(script: string): Promise<Socket | undefined>;
  bucketIsEmpty(name: string): Promise<boolean>;
  /** Runs `work` on a bucket, even if no script binds it. */
  withBucket<T>(name: string, work: (bucket: Bucket) => Promise<T>): Promise<T>;
  /** Stops a namespace's containers gracefully. The next request starts new ones. */
  stopContainers(namespaceId: string): Promise<void>;
  /** Kills the processes with this id in all containers. */
  killInContainer(pid: number): Promise<void>;
  /** Returns the reason why containers cannot run an image; `undefined` if they can. */
  imageProblem(image: string): Promise<string | undefined>;
  /** Returns recent output of containers that run as local processes, oldest line first. */
  containerLog(): string[];
  /** Stops everything but preserves the storage. */
  close(): Promise<void>;
}
