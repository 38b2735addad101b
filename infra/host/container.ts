import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { DATA_DIRECTORY, PORTS } from "../../runtime/contract/names.ts";

/** Arguments of {@link Container}. */
export interface ContainerArgs {
  containerName: string;
  imageId: pulumi.Input<string>;
  /** What keeps the data: a volume, or a directory of the host. */
  data: { volumeName: pulumi.Input<string> } | { directory: string };
  /** The host's port and address that lead to the edge in the container. */
  port: { external: number; address: string };
  memoryMiB: number;
  /** Processes and threads that the container's user may have. */
  maxProcesses: number;
  /** What the engine keeps of the container's output: so many files of this size. */
  logs: { maxMiB: number; files: number };
  /** Variables that anyone may read. */
  variables: Readonly<Record<string, pulumi.Input<string>>>;
  /** Variables that nobody may read; the values have to be Pulumi secrets. */
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
}

/** What runs in the container: the edge, which starts supervisor and gateway. */
const COMMAND = ["/app/platform/node/host.js"];
const STOP_SECONDS = 10;
const PROBE = `fetch("http://127.0.0.1:${PORTS.edge}/healthz").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`;

/**
 * The service's container. It writes to its data and to /tmp alone, gains no privileges, and
 * comes up again by itself unless someone stopped it.
 */
export class Container extends pulumi.ComponentResource {
  readonly containerId: pulumi.Output<string>;

  constructor(name: string, args: ContainerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:host:Container", name, {}, opts);

    const container = new docker.Container(
      name,
      {
        name: args.containerName,
        image: args.imageId,
        // The image's own user, said here too so that a policy sees it.
        user: "steward",
        command: COMMAND,
        envs: environment(args),
        ports: [{ internal: PORTS.edge, external: args.port.external, ip: args.port.address }],
        volumes: [{ ...dataSource(args.data), containerPath: DATA_DIRECTORY }],
        tmpfs: { "/tmp": "rw,noexec,nosuid,nodev,size=64m" },
        readOnly: true,
        securityOpts: ["no-new-privileges"],
        capabilities: { drops: ["ALL"] },
        memory: args.memoryMiB,
        // No swap on top: a leak ends in a restart, not in a host that crawls.
        memorySwap: args.memoryMiB,
        ulimits: [{ name: "nproc", soft: args.maxProcesses, hard: args.maxProcesses }],
        restart: "unless-stopped",
        logDriver: "json-file",
        logOpts: { "max-size": `${args.logs.maxMiB}m`, "max-file": String(args.logs.files) },
        healthcheck: {
          tests: ["CMD", "node", "-e", PROBE],
          interval: "10s",
          timeout: "5s",
          startPeriod: "30s",
          retries: 3,
        },
        // The service ends within 9 s, with the answers that it has begun; what is cut off comes again.
        stopTimeout: STOP_SECONDS,
        destroyGraceSeconds: STOP_SECONDS,
      },
      // The engine lists the variables in one output: it stays a secret as a whole.
      // The labels are the image's, which a refresh reads from the container: no change of its own.
      { parent: this, additionalSecretOutputs: ["envs"], ignoreChanges: ["labels"] },
    );

    this.containerId = container.id;
    this.registerOutputs({ containerId: this.containerId });
  }
}

function dataSource(
  data: ContainerArgs["data"],
): { volumeName: pulumi.Input<string> } | { hostPath: string } {
  return "directory" in data ? { hostPath: data.directory } : data;
}

/** Sorted, so that the order in which keys were set means no change. */
function environment({ variables, secrets }: ContainerArgs): pulumi.Input<string>[] {
  const entries = Object.entries<pulumi.Input<string>>({ ...variables, ...secrets });
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => pulumi.interpolate`${name}=${value}`);
}
