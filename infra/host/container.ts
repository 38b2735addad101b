import { createHash } from "node:crypto";
import * as command from "@pulumi/command";
import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { INTERPRETER, programText } from "../shell/package.ts";
import type { DataPlace } from "./data.ts";
import { runBeforeCreate } from "./names.ts";
import type { Shape } from "./shape.ts";

export interface ContainerArgs {
  shape: Shape;
  imageId: pulumi.Input<string>;
  data: DataPlace;
  variables: Readonly<Record<string, pulumi.Input<string>>>;
  /** Secret variables. The values must be Pulumi secrets. */
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
  /** Docker host address. Default: the `docker` command's. */
  dockerHost?: string | undefined;
  hooks?: pulumi.ResourceHook[];
  /** Changing this number replaces the container. */
  round?: pulumi.Input<number>;
}

const script = (name: string): string => programText(`infra/host/update/${name}`);

/**
 * The service's container, created but not started. The readiness check stops the previous version's container and
 * then starts this one.
 */
export class Container extends pulumi.ComponentResource {
  readonly containerId: pulumi.Output<string>;

  constructor(name: string, args: ContainerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:host:Container", name, {}, opts);
    const wanted = containerArgs(args);

    const former = new command.local.Command(
      `${name}-former`,
      {
        interpreter: INTERPRETER,
        create: script("keep-former"),
        delete: script("remove-former"),
        environment: {
          STEWARD_CONTAINER: args.shape.name,
          ...(args.dockerHost !== undefined && { DOCKER_HOST: args.dockerHost }),
        },
        // Run this command again if the container's arguments change: Pulumi may then replace the container.
        triggers: [
          pulumi.output(wanted).apply(fingerprint),
          ...(args.round === undefined ? [] : [args.round]),
        ],
      },
      { parent: this },
    );
    const container = new docker.Container(name, wanted, {
      parent: this,
      dependsOn: former,
      // Encrypt all variables, because some are secret.
      additionalSecretOutputs: ["envs"],
      // A refresh adds the image's labels to the state.
      ignoreChanges: ["labels"],
      // The Docker provider does not request this if only the replacement trigger changes.
      deleteBeforeReplace: true,
      transformations: [runBeforeCreate(args.hooks)],
      ...(args.round !== undefined && { replacementTrigger: args.round }),
    });

    this.containerId = container.id;
    this.registerOutputs({ containerId: this.containerId });
  }
}

function containerArgs(args: ContainerArgs): docker.ContainerArgs {
  const { shape } = args;
  const { internal, external, address } = shape.port;
  return {
    name: shape.name,
    image: args.imageId,
    user: shape.user,
    command: shape.command,
    envs: environment(args),
    ports: [{ internal, external, ip: address }],
    volumes: [{ ...dataSource(args.data), containerPath: shape.dataDirectory }],
    tmpfs: shape.tmpfs,
    readOnly: true,
    securityOpts: shape.securityOptions,
    capabilities: {
      drops: shape.droppedCapabilities,
      ...(shape.addedCapabilities && { adds: shape.addedCapabilities }),
    },
    memory: shape.memoryMiB,
    // Without swap, a memory leak causes a restart and cannot slow down the host.
    memorySwap: shape.memoryMiB,
    cpus: asProviderReads(shape.cpus),
    ulimits: [{ name: "nproc", soft: shape.maxProcesses, hard: shape.maxProcesses }],
    restart: shape.restart,
    logDriver: shape.logs.driver,
    logOpts: shape.logs.options,
    healthcheck: {
      tests: shape.health.test,
      interval: shape.health.interval,
      timeout: shape.health.timeout,
      startPeriod: shape.health.startPeriod,
      retries: shape.health.retries,
    },
    stopTimeout: shape.stopSeconds,
    destroyGraceSeconds: shape.stopSeconds,
    // The readiness check starts the container, and rolls back after a failure.
    start: false,
    mustRun: false,
  };
}

/**
 * Formats a CPU limit as the Docker provider does in a refresh (`nanoInt64ToDecimalString`). With another format, the
 * next update would replace the container.
 */
function asProviderReads(cpus: string): string {
  const text = Number(cpus).toFixed(9);
  const noughts = text.split("0").length - 1;
  return noughts === 9 ? Number(cpus).toFixed(1) : text.replace(/0+$/, "");
}

function fingerprint(wanted: pulumi.Unwrap<docker.ContainerArgs>): string {
  return createHash("sha256").update(JSON.stringify(wanted)).digest("hex");
}

function dataSource(data: DataPlace): { volumeName: pulumi.Input<string> } | { hostPath: string } {
  return "directory" in data ? { hostPath: data.directory } : data;
}

/** Returns the variables sorted by name, because Pulumi treats another order as a change. */
function environment({ variables, secrets }: ContainerArgs): pulumi.Input<string>[] {
  const entries = Object.entries<pulumi.Input<string>>({ ...variables, ...secrets });
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => pulumi.interpolate`${name}=${value}`);
}
