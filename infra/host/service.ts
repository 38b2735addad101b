import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { OwnResource } from "../shell/resource.ts";
import { packageProgramFile } from "../shell/package.ts";
import { runProcess } from "../shell/process.ts";
import { type ResourceProvider, UNKNOWN } from "../shell/provider.ts";
import { type Containers, containersOf, type InspectedContainer } from "./update/containers.ts";
import {
  removePrevious,
  previousName,
  restorePrevious,
  inspectPair,
  isReady,
  replacePrevious,
} from "./update/previous.ts";
import { openTunnel } from "./update/tunnel.ts";

const PROBE = packageProgramFile("infra/readiness/probe");
/** Timeout of the probe, short so that the previous version is restored soon. */
const TIMEOUT_MS = "40000";

/** State of the service on its engine, either desired or read by a refresh. */
interface Runs {
  /** Name of the running container: after a rollback, the previous version's container. */
  container: string;
  containerId: string;
  imageId: string;
  /** Docker's state: `running`, `paused`, `exited`, `restarting`, `created` or `dead`. */
  status: string;
  /** `ready`, or `not ready` if the gateway does not respond. */
  health: string;
}

export interface ServiceInputs extends Runs {
  probe: Record<string, string>;
  key: string;
  dockerHost?: string;
}

export interface ServiceOutputs extends ServiceInputs {
  /**
   * Report of the readiness probe, one line per check. A refresh replaces the report with the container's state if
   * the container has changed.
   */
  report: string;
}

const WANTED = ["container", "containerId", "imageId", "status", "health"] as const;

export const serviceProvider: ResourceProvider<ServiceInputs, ServiceOutputs> = {
  /** Fails a preview if the recorded container no longer exists and will not be replaced. */
  async check(_olds, news) {
    if (news.containerId === UNKNOWN) return;
    const found = await containersOf(news.dockerHost).inspect(news.containerId);
    if (found === undefined) throw new StewardError("container_gone");
  },

  /** Inspects the container in every preview, because Pulumi does not notice a stopped one. */
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
    // After an earlier refresh, `container` may name the previous version's container.
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

/** Starts the container in place of the previous version and probes the service. Rolls back on failure. */
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
      (failure: unknown) => `The rollback failed: ${messageOf(failure)}`,
    );
    throw new Error(`${messageOf(error)}\n${end}`, { cause: error });
  }
  await removePrevious(containers, container);
  return { ...inputs, report };
}

interface ServiceQuestions {
  probe: Readonly<Record<string, string>>;
  /** Signs requests restricted to the stack. */
  key: string;
  dockerHost?: string | undefined;
  hasPrevious: boolean;
}

/**
 * Probes the service until every check passes.
 *
 * @returns the probe's report, one line per check. @throws Error with the failed checks and the container's last log
 * lines.
 */
async function askService({ probe, key, dockerHost, hasPrevious }: ServiceQuestions): Promise<string> {
  const engine = dockerHost ?? process.env["DOCKER_HOST"] ?? "";
  const { url, close } = await openTunnel(probe["PROBE_URL"] ?? "", engine);
  const env = {
    ...(hasPrevious && { PROBE_TIMEOUT_MS: TIMEOUT_MS }),
    ...process.env,
    ...probe,
    ...(dockerHost && { DOCKER_HOST: dockerHost }),
    PROBE_URL: url,
  };
  const asked = await runProcess(process.execPath, [PROBE], { env, input: key }).finally(close);
  if (asked.code !== 0) throw new Error(asked.stderr.trimEnd());
  return asked.stdout.trimEnd();
}

/**
 * Returns the state of the service's container. Uses the previous version's container if the current one is missing,
 * or if only the previous one runs.
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

/** Returns the probe's report, or the service's current state if it has changed since the probe. */
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

export interface ServiceArgs {
  probe: Readonly<Record<string, pulumi.Input<string>>>;
  /** Secret key with which the stack signs its requests. */
  key: pulumi.Input<string>;
  container: string;
  containerId: pulumi.Input<string>;
  imageId: pulumi.Input<string>;
  dockerHost?: string | undefined;
}

/**
 * The running service on a host. An update waits for the readiness probe, and rolls back to the previous version on
 * failure.
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
