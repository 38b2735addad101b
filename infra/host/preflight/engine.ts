import type { OperatorCommands } from "../../../runtime/contract/operator-commands.ts";
import type { ErrorCode, Reason } from "../../../runtime/contract/errors.ts";
import { DATA_DIRECTORY, type HostNames, STATE_SCHEMA } from "../../../runtime/contract/names.ts";
import { SCHEMA_LABEL } from "../../bundle/arguments.ts";
import { docker } from "../../shell/docker.ts";
import { runProcess } from "../../shell/process.ts";
import { previousName } from "../update/previous.ts";

export interface HostPlan {
  commands: OperatorCommands;
  names: HostNames;
  /** Environment of the `docker` command. DOCKER_HOST selects the engine. */
  environment: NodeJS.ProcessEnv;
  port: { external: number; address: string };
  /** Host directory of the data. Default: a named volume. */
  directory?: string | undefined;
  memoryMiB: number;
  cpus: number;
  /** Maximum concurrent chat gateways. Absent if one gateway serves all chats. */
  chats?: number | undefined;
  /** Free space required on each disk: the engine's and the data's. */
  diskMiB: number;
  /** Name of the image; absent if it is built from this checkout. */
  image?: string | undefined;
  /**
   * Checks whether the new version would start with the running config, whose content is `text`. Returns the reason
   * if it would not, otherwise `undefined`.
   */
  judgeConfig?: (text: string) => Promise<Reason | undefined>;
}

export interface HostFacts {
  /** True if the engine runs on this machine, so its files and ports can be inspected. */
  local: boolean;
  /** True if container users map to other host users (user namespaces or rootless mode). */
  mapsUsers: boolean;
  memoryBytes: number;
  cpus: number;
  rootDirectory: string;
  /** The service's container, running or not; after a rollback, this is the previous version's. */
  container:
    | {
        id: string;
        image: string;
        running: boolean;
        labels: Record<string, string>;
        data: DataMount | undefined;
      }
    | undefined;
  /** The volume's path on the host; `undefined` if the volume does not exist. */
  volumeDirectory: string | undefined;
  /** Newest data schema that the new image can read; `undefined` if unknown. */
  schema: number | undefined;
}

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
  Image: string;
  State: { Running: boolean };
  Config: { Labels: Record<string, string> | null };
  Mounts: DataMount[];
}

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

async function schemaOf(image: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  const [found] = await inspectObjects<Pick<PreflightContainer, "Config">>("image", image, env);
  const label = found?.Config.Labels?.[SCHEMA_LABEL];
  return label === undefined ? undefined : Number(label);
}

async function inspectObjects<Entry>(
  kind: "container" | "image" | "volume",
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<Entry[]> {
  const { code, stdout } = await runProcess("docker", [kind, "inspect", name], { env });
  return code === 0 ? (JSON.parse(stdout) as Entry[]) : [];
}

export function problemOf(code: ErrorCode, detail: string, fix: string): Reason {
  return { code, detail, fix };
}
