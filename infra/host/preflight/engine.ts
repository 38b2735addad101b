import type { OperatorCommands } from "../../../runtime/contract/operator-commands.ts";
import type { ErrorCode, Reason } from "../../../runtime/contract/errors.ts";
import { DATA_DIRECTORY, type HostNames, STATE_SCHEMA } from "../../../runtime/contract/names.ts";
import { SCHEMA_LABEL } from "../../bundle/arguments.ts";
import { docker } from "../../shell/docker.ts";
import { runProcess } from "../../shell/process.ts";
import { previousName } from "../update/previous.ts";

/** Stack values that are about to be deployed. */
export interface HostPlan {
  /** Commands on the stack, for the fixes. */
  commands: OperatorCommands;
  names: HostNames;
  /** Environment of the `docker` command. Its DOCKER_HOST selects the engine. */
  environment: NodeJS.ProcessEnv;
  port: { external: number; address: string };
  /** The data's directory on the host; without it a named volume is used. */
  directory?: string | undefined;
  memoryMiB: number;
  /** Processors that the container may keep busy. */
  cpus: number;
  /** Chats' gateways, each of a user of its own, that may run at the same time; absent if one gateway serves all chats. */
  chats?: number | undefined;
  /** Free space that is required on the engine's disk and on the disk of the data. */
  diskMiB: number;
  /** The image's name, where it is not built from this checkout. */
  image?: string | undefined;
  /** Returns why the new deployment would not start with the running config, which has this text. */
  judgeConfig?: (text: string) => Promise<Reason | undefined>;
}

/** Statements of the engine. */
export interface HostFacts {
  /** The engine runs on this machine: its files and ports can be looked at. */
  local: boolean;
  /** The engine maps users in a container to other users of the host (user namespaces or rootless mode). */
  mapsUsers: boolean;
  memoryBytes: number;
  cpus: number;
  rootDirectory: string;
  /** The current container, running or not; the previous version's container if an update rolled back to it. */
  container:
    | {
        id: string;
        image: string;
        running: boolean;
        labels: Record<string, string>;
        data: DataMount | undefined;
      }
    | undefined;
  /** Path of the named volume on the host, if the volume exists. */
  volumeDirectory: string | undefined;
  /** Newest schema of the data that the image to deploy can read; `undefined` if unknown. */
  schema: number | undefined;
}

/** Data directory of a container. */
interface DataMount {
  Type: string;
  Name?: string;
  Source: string;
  Destination: string;
}

interface Info {
  MemTotal: number;
  NCPU: number;
  DockerRootDir: string;
  SecurityOptions: string[] | null;
}

interface PreflightContainer {
  Id: string;
  /** The image's id. */
  Image: string;
  State: { Running: boolean };
  Config: { Labels: Record<string, string> | null };
  Mounts: DataMount[];
}

/** Returns everything that the preflight needs to know from the engine. */
export async function inspectHost({ names, image, environment: env }: HostPlan): Promise<HostFacts> {
  const address = env["DOCKER_HOST"];
  const { stdout } = await docker(["info", "--format", "{{json .}}"], { env });
  const info = JSON.parse(stdout) as Info;
  const container = await currentContainer(names.container, env);
  const [volume] = await inspectObjects<{ Mountpoint: string }>("volume", names.volume, env);
  return {
    local: !address || address.startsWith("unix://"),
    mapsUsers: (info.SecurityOptions ?? []).some((option) => /name=(userns|rootless)/.test(option)),
    memoryBytes: info.MemTotal,
    cpus: info.NCPU,
    rootDirectory: info.DockerRootDir,
    container: container && {
      id: container.Id,
      image: container.Image,
      running: container.State.Running,
      labels: container.Config.Labels ?? {},
      data: container.Mounts.find(({ Destination }) => Destination === DATA_DIRECTORY),
    },
    volumeDirectory: volume?.Mountpoint,
    schema: image === undefined ? STATE_SCHEMA : await schemaOf(image, env),
  };
}

async function currentContainer(
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<PreflightContainer | undefined> {
  const [previous] = await inspectObjects<PreflightContainer>("container", previousName(name), env);
  if (previous?.State.Running) return previous;
  return (await inspectObjects<PreflightContainer>("container", name, env))[0];
}

/**
 * Returns the data schema from the image's label; `undefined` if the engine does not have the image, or the image has
 * no such label.
 */
async function schemaOf(image: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const [found] = await inspectObjects<Pick<PreflightContainer, "Config">>("image", image, env);
  const label = found?.Config.Labels?.[SCHEMA_LABEL];
  return label === undefined ? undefined : Number(label);
}

/** One entry, or none where the engine has nothing of that name. */
async function inspectObjects<Entry>(
  kind: "container" | "image" | "volume",
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<Entry[]> {
  const { code, stdout } = await runProcess("docker", [kind, "inspect", name], { env });
  return code === 0 ? (JSON.parse(stdout) as Entry[]) : [];
}

/** Returns what keeps a host from taking a deployment; the fix names what to type on this very host. */
export function problemOf(code: ErrorCode, detail: string, fix: string): Reason {
  return { code, detail, fix };
}
