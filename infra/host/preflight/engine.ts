import type { OperatorCommands } from "../../../runtime/contract/operator-commands.ts";
import type { ErrorCode, Reason } from "../../../runtime/contract/errors.ts";
import { DATA_DIRECTORY, type HostNames, STATE_SCHEMA } from "../../../runtime/contract/names.ts";
import { SCHEMA_LABEL } from "../../bundle/arguments.ts";
import { docker } from "../../shell/docker.ts";
import { run } from "../../shell/process.ts";
import { formerName } from "../update/former.ts";

/** Stack values that are about to be deployed. */
export interface HostPlan {
  /** Commands on the stack, for the fixes. */
  commands: OperatorCommands;
  names: HostNames;
  /** Of the docker command: its DOCKER_HOST says which engine is meant. */
  environment: NodeJS.ProcessEnv;
  port: { external: number; address: string };
  /** The data's directory on the host; without it a named volume is used. */
  directory?: string | undefined;
  memoryMiB: number;
  /** Processors that the container may keep busy. */
  cpus: string;
  /** Free space that the engine's disk and the data's have to have. */
  diskMiB: number;
  /** The image's name, where it is not built from this checkout. */
  image?: string | undefined;
  /** Judges the running config's text: why it would not start under what is about to be deployed. */
  judgeConfig?: (text: string) => Reason | undefined;
}

/** Statements of the engine. */
export interface Host {
  /** The engine runs on this machine: its files and ports can be looked at. */
  local: boolean;
  /** Users in a container are others outside of it. */
  mapsUsers: boolean;
  memoryBytes: number;
  cpus: number;
  rootDirectory: string;
  /** The container that is there now, running or not; the one before, where an update went back to it. */
  container:
    | { id: string; running: boolean; labels: Record<string, string>; data: DataMount | undefined }
    | undefined;
  /** Place where the named volume lies, if there is one. */
  volumeDirectory: string | undefined;
  /** Schema up to which the image to deploy reads data; `undefined` if unknown. */
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

interface Inspected {
  Id: string;
  State: { Running: boolean };
  Config: { Labels: Record<string, string> | null };
  Mounts: DataMount[];
}

/** Asks the engine all that the preflight needs. */
export async function lookAt({ names, image, environment: env }: HostPlan): Promise<Host> {
  const address = env["DOCKER_HOST"];
  const { stdout } = await docker(["info", "--format", "{{json .}}"], { env });
  const info = JSON.parse(stdout) as Info;
  const container = await containerNow(names.container, env);
  const [volume] = await inspected<{ Mountpoint: string }>("volume", names.volume, env);
  return {
    local: !address || address.startsWith("unix://"),
    mapsUsers: (info.SecurityOptions ?? []).some((option) => /name=(userns|rootless)/.test(option)),
    memoryBytes: info.MemTotal,
    cpus: info.NCPU,
    rootDirectory: info.DockerRootDir,
    container: container && {
      id: container.Id,
      running: container.State.Running,
      labels: container.Config.Labels ?? {},
      data: container.Mounts.find(({ Destination }) => Destination === DATA_DIRECTORY),
    },
    volumeDirectory: volume?.Mountpoint,
    schema: image === undefined ? STATE_SCHEMA : await schemaOf(image, env),
  };
}

async function containerNow(name: string, env: NodeJS.ProcessEnv): Promise<Inspected | undefined> {
  const [former] = await inspected<Inspected>("container", formerName(name), env);
  if (former?.State.Running) return former;
  return (await inspected<Inspected>("container", name, env))[0];
}

/** Returns what the image's label says, where the engine has the image and it has the label. */
async function schemaOf(image: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const [found] = await inspected<Pick<Inspected, "Config">>("image", image, env);
  const label = found?.Config.Labels?.[SCHEMA_LABEL];
  return label === undefined ? undefined : Number(label);
}

/** One entry, or none where the engine has nothing of that name. */
async function inspected<Entry>(
  kind: "container" | "image" | "volume",
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<Entry[]> {
  const { code, stdout } = await run("docker", [kind, "inspect", name], { env });
  return code === 0 ? (JSON.parse(stdout) as Entry[]) : [];
}

/** Returns what keeps a host from taking a deployment; the fix names what to type on this very host. */
export function problemOf(code: ErrorCode, detail: string, fix: string): Reason {
  return { code, detail, fix };
}
