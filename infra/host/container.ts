import { createHash } from "node:crypto";
import * as command from "@pulumi/command";
import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { INTERPRETER, programText } from "../shell/package.ts";
import type { DataPlace } from "./data.ts";
import { runBeforeCreate } from "./names.ts";
import type { Shape } from "./shape.ts";

/** Arguments of {@link Container}. */
export interface ContainerArgs {
  shape: Shape;
  imageId: pulumi.Input<string>;
  data: DataPlace;
  /** Variables that anyone may read. */
  variables: Readonly<Record<string, pulumi.Input<string>>>;
  /** Secret variables; the values have to be Pulumi secrets. */
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
  /** The engine's address. Default: the docker command's own. */
  dockerHost?: string | undefined;
  /** Hooks that run before the container is created. */
  hooks?: pulumi.ResourceHook[];
  /** A change of this number replaces the container. Default: no such trigger. */
  round?: pulumi.Input<number>;
}

const script = (name: string): string => programText(`infra/host/update/${name}`);

/**
 * The service's container, created but not started. The readiness check starts it in place of the previous version,
 * which is backed up and kept until then.
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
        // Covers everything that makes Pulumi replace the container. The fingerprint is a secret because it includes
        // the variables.
        triggers: [
          pulumi.output(wanted).apply(fingerprint),
          ...(args.round === undefined ? [] : [args.round]),
        ],
      },
      { parent: this },
    );
    const container = new docker.Container(
      name,
      wanted,
      // The engine reports all variables in one output, so that output is a secret as a whole. The labels come from the
      // image, and a refresh reads them from the container: such a difference must not count as a change.
      {
        parent: this,
        dependsOn: former,
        additionalSecretOutputs: ["envs"],
        ignoreChanges: ["labels"],
        // Set here because a replacement trigger replaces the container without asking the provider, which would demand
        // the same.
        deleteBeforeReplace: true,
        transformations: [runBeforeCreate(args.hooks)],
        ...(args.round !== undefined && { replacementTrigger: args.round }),
      },
    );

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
    // No additional swap: a memory leak then ends in a restart instead of slowing down the host.
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
    // The readiness check starts the container, because it may have to roll back to the previous version.
    start: false,
    mustRun: false,
  };
}

/**
 * Returns a number of processors in the form in which the Docker provider reads it back in a refresh (its
 * `nanoInt64ToDecimalString`). In any other form, each update after a refresh would replace the container.
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

/** Returns the variables sorted by name, so that setting them in another order does not count as a change. */
function environment({ variables, secrets }: ContainerArgs): pulumi.Input<string>[] {
  const entries = Object.entries<pulumi.Input<string>>({ ...variables, ...secrets });
  return entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => pulumi.interpolate`${name}=${value}`);
}
