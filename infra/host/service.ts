import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { OwnResource } from "../shell/resource.ts";
import { type ResourceProvider, UNKNOWN } from "../shell/provider.ts";
import { askService } from "./update/ask.ts";
import { type Containers, containersOf, type InspectedContainer } from "./update/containers.ts";
import {
  removePrevious,
  previousName,
  restorePrevious,
  inspectPair,
  isReady,
  replacePrevious,
} from "./update/previous.ts";

/** State of the service on its engine: the wanted one, or the one that a refresh has read. */
interface Runs {
  /** Name of the running container; the previous version's container after an update that rolled back. */
  container: string;
  containerId: string;
  imageId: string;
  /** Docker's name for the state: `running`, `paused`, `exited`, `restarting`, `created` or `dead`. */
  status: string;
  /** `ready`, or `not ready` if the gateway does not answer. */
  health: string;
}

/** Inputs of {@link Service}'s provider. */
export interface ServiceInputs extends Runs {
  /** Variables of the readiness probe. */
  probe: Record<string, string>;
  /** Secret key that signs the requests that only the stack may make. */
  key: string;
  dockerHost?: string;
}

/** Outputs of {@link Service}'s provider. */
export interface ServiceOutputs extends ServiceInputs {
  /**
   * Report of the readiness probe, one line per check; after a refresh that found a difference, what is wrong instead.
   */
  report: string;
}

const WANTED = ["container", "containerId", "imageId", "status", "health"] as const;

/** Provider of {@link Service}. */
export const serviceProvider: ResourceProvider<ServiceInputs, ServiceOutputs> = {
  /** Fails a preview if the container in the stack's state no longer exists and is not about to be replaced. */
  async check(_olds, news) {
    if (news.containerId === UNKNOWN) return;
    const found = await containersOf(news.dockerHost).inspect(news.containerId);
    if (found === undefined) throw new StewardError("container_gone");
  },

  /**
   * Compares with the engine in every preview: without a refresh, the state alone would not show that a container has
   * stopped.
   */
  async diff(_id, olds, news) {
    const changed = [...WANTED, "probe", "dockerHost"] as const;
    if (changed.some((key) => !isDeepStrictEqual(olds[key], news[key]))) {
      return { changes: true };
    }
    const runs = await observe(containersOf(news.dockerHost), news.container);
    return { changes: runs === undefined || WANTED.some((key) => runs[key] !== news[key]) };
  },

  async create(inputs) {
    return { id: inputs.container, outs: await bringUp(inputs) };
  },

  async update(_id, _olds, news) {
    return { outs: await bringUp(news) };
  },

  async read(id, props) {
    const { report: _, ...inputs } = props;
    const containers = containersOf(props.dockerHost);
    // Since an earlier refresh, `container` may be the name of the previous version's container.
    const runs = await observe(containers, props.probe["PROBE_CONTAINER"] ?? props.container);
    if (runs === undefined) return { id: "" };
    const now = { ...inputs, ...runs };
    return {
      id,
      inputs: now as ServiceOutputs,
      props: { ...now, report: await describe(containers, runs, props) },
    };
  },
};

/** Starts the container in place of the previous version and probes it. Rolls back if it does not respond. */
async function bringUp(inputs: ServiceInputs): Promise<ServiceOutputs> {
  const { container, probe, key, dockerHost } = inputs;
  const containers = containersOf(dockerHost);
  let report: string;
  try {
    await replacePrevious(containers, container);
    const { previous } = await inspectPair(containers, container);
    report = await askService({ probe, key, dockerHost, hasPrevious: previous !== undefined });
  } catch (error) {
    const end = await restorePrevious(containers, container).catch(
      (failure: unknown) => `The version before could not be put back: ${messageOf(failure)}`,
    );
    throw new Error(`${messageOf(error)}\n${end}`, { cause: error });
  }
  await removePrevious(containers, container);
  return { ...inputs, report };
}

/**
 * Returns the state of the service's container, or of the previous version's if only that one runs or exists;
 * `undefined` if neither exists.
 */
async function observe(containers: Containers, name: string): Promise<Runs | undefined> {
  const { current, previous } = await inspectPair(containers, name);
  const usesPrevious = previous !== undefined && (current === undefined || !current.State.Running);
  const found = usesPrevious && (previous.State.Running || current === undefined) ? previous : current;
  if (found === undefined) return undefined;
  const container = found === previous ? previousName(name) : name;
  const { Paused, Status } = found.State;
  const ready = Status === "running" && !Paused && (await isReady(containers, container));
  return {
    container,
    containerId: found.Id,
    imageId: found.Image,
    status: Status,
    health: ready ? "ready" : "not ready",
  };
}

/**
 * Returns the probe's report if nothing has changed since it was made. Otherwise returns what is wrong, with the
 * container's exit code and number of restarts.
 */
async function describe(containers: Containers, runs: Runs, before: ServiceOutputs): Promise<string> {
  if (WANTED.every((key) => runs[key] === before[key])) return before.report;
  const found = await containers.inspect(runs.containerId);
  return `${runs.container} is ${runs.status} and ${runs.health}${found ? endOf(found) : ""}`;
}

function endOf({ State, RestartCount }: InspectedContainer): string {
  const exit = State.Running ? "" : `, exit code ${State.ExitCode}`;
  const memory = State.OOMKilled ? ", out of memory (OOM-killed)" : "";
  return `${exit}, ${RestartCount} restarts${memory}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Arguments of {@link Service}. */
export interface ServiceArgs {
  /** Variables of the readiness probe. */
  probe: Readonly<Record<string, pulumi.Input<string>>>;
  /** Secret key that signs the requests that only the stack may make. */
  key: pulumi.Input<string>;
  /** The container's name. */
  container: string;
  containerId: pulumi.Input<string>;
  imageId: pulumi.Input<string>;
  /** The engine's address. Default: the one that the `docker` command uses. */
  dockerHost?: string | undefined;
}

/**
 * The service that runs on a host: its container started, its gateway ready, the readiness probe passed. Rolls back to
 * the previous version if the new one does not respond. A refresh reads which container runs, from which image and in
 * which state; each preview compares these too.
 */
export class Service extends OwnResource {
  /** Report of the readiness probe, one line per check. */
  declare readonly report: pulumi.Output<string>;

  constructor(name: string, args: ServiceArgs, opts?: pulumi.CustomResourceOptions) {
    const { container, containerId, imageId, dockerHost, probe, key } = args;
    const inputs = {
      container,
      containerId,
      imageId,
      status: "running",
      health: "ready",
      probe: { ...probe, PROBE_CONTAINER: container },
      key,
      ...(dockerHost !== undefined && { dockerHost }),
      report: undefined,
    };
    super("host:Service", name, inputs, { ...opts, additionalSecretOutputs: ["key"] });
  }
}
