import { statfs } from "node:fs/promises";
import { type Reason, StewardError } from "../../runtime/contract/errors.ts";
import { CONFIG_FILE, CONTAINER_USER, DATA_DIRECTORY } from "../../runtime/contract/names.ts";
import { dockerAvailable } from "../shell/docker.ts";
import { runProcess } from "../shell/process.ts";
import { chatProblems } from "./preflight/chats.ts";
import { dataProblems } from "./preflight/data.ts";
import { type HostFacts, type HostPlan, inspectHost, problemOf } from "./preflight/engine.ts";
import { portProblems } from "./preflight/port.ts";

const MIB = 1024 * 1024;

/** Far above the size of any config. */
const MAX_BYTES = 1 << 20;

const LOCAL =
  "Start it (systemctl start docker), join the group docker, or set steward:docker to the engine's address.";
const BY_SSH =
  "Make `ssh <user>@<host> docker version` work without a prompt: it needs a key, an entry in known_hosts, and the group docker for the user.";

/**
 * Checks that the host can run the deployment. Changes nothing, so previews run it too.
 *
 * @throws StewardError `host_not_ready` with the code and fix of every problem
 */
export async function preflight(plan: HostPlan): Promise<void> {
  const problems = await findProblems(plan);
  if (problems.length > 0) throw new StewardError("host_not_ready", formatted(problems), { fix: "" });
}

async function findProblems(plan: HostPlan): Promise<Reason[]> {
  const state = await dockerAvailable(plan.environment);
  if (!state.ok) {
    const at = plan.environment["DOCKER_HOST"] ?? "this machine's engine";
    return [
      problemOf(
        "docker_unavailable",
        `The Docker engine cannot be reached (${at}): ${state.reason}.`,
        at.startsWith("ssh://") ? BY_SSH : LOCAL,
      ),
    ];
  }
  const host = await inspectHost(plan);
  const found = await Promise.all([
    portProblems(plan, host),
    dataProblems(plan, host),
    configProblems(plan, host),
    roomProblems(plan, host),
    chatProblems(plan, host),
  ]);
  return found.flat();
}

function formatted(problems: readonly Reason[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.flatMap(({ code, detail, fix }) => [`  ${code}: ${detail}`, `    fix: ${fix}`]);
  return [`The host is not ready for this deployment (host_not_ready), ${count}:`, ...lines].join("\n");
}

async function configProblems(plan: HostPlan, { container }: HostFacts): Promise<Reason[]> {
  const { judgeConfig, environment: env } = plan;
  if (judgeConfig === undefined || container?.running !== true) return [];
  const file = `${DATA_DIRECTORY}/${CONFIG_FILE}`;
  const { code, stdout } = await runProcess(
    "docker",
    ["exec", "--user", String(CONTAINER_USER), container.id, "head", `--bytes=${MAX_BYTES}`, file],
    { env },
  );
  // If the config file cannot be read, the gateway reports that at startup.
  const problem = code === 0 ? await judgeConfig(stdout) : undefined;
  return problem === undefined ? [] : [problem];
}

async function roomProblems(plan: HostPlan, host: HostFacts): Promise<Reason[]> {
  const disks = host.local ? [host.rootDirectory, ...(plan.directory ? [plan.directory] : [])] : [];
  const problems = await Promise.all(disks.map((disk) => diskProblem(disk, plan)));
  return [...memoryProblem(plan, host), ...cpuProblem(plan, host), ...problems.flat()];
}

function memoryProblem({ memoryMiB, commands }: HostPlan, { memoryBytes }: HostFacts): Reason[] {
  const has = Math.floor(memoryBytes / MIB);
  if (has >= memoryMiB) return [];
  return [
    problemOf(
      "host_memory_short",
      `The container may use ${memoryMiB} MiB, and the engine's machine has ${has} MiB.`,
      `Lower the limit (\`${commands.configSet("steward:memoryMiB", "<MiB>")}\`), or give the machine more memory.`,
    ),
  ];
}

/**
 * Reports a CPU limit above the machine's number of CPUs. Docker would reject such a limit only during the update.
 */
function cpuProblem({ cpus, commands }: HostPlan, host: HostFacts): Reason[] {
  if (host.cpus >= cpus) return [];
  return [
    problemOf(
      "host_cpus_short",
      `The container may use ${cpus} processors, and the engine's machine has ${host.cpus}.`,
      `Lower the limit (\`${commands.configSet("steward:cpus", "<number>")}\`), or give the machine more processors.`,
    ),
  ];
}

async function diskProblem(directory: string, { diskMiB }: HostPlan): Promise<Reason[]> {
  const { bavail, bsize } = await statfs(directory).catch(() => ({ bavail: Infinity, bsize: 1 }));
  const free = Math.floor((bavail * bsize) / MIB);
  if (free >= diskMiB) return [];
  return [
    problemOf(
      "host_disk_short",
      `The disk of ${directory} has ${free} MiB free, but ${diskMiB} MiB are required.`,
      "Free space (docker system df shows what the engine holds), or lower steward:diskMiB.",
    ),
  ];
}
