import { statfs } from "node:fs/promises";
import type { Reason } from "../../../runtime/contract/errors.ts";
import type { Host, HostPlan } from "./engine.ts";
import { problemOf } from "./problem.ts";

const MIB = 1024 * 1024;

/** Less memory, processors or disk than the configuration counts on. */
export async function roomProblems(plan: HostPlan, host: Host): Promise<Reason[]> {
  const disks = host.local ? [host.rootDirectory, ...(plan.directory ? [plan.directory] : [])] : [];
  const problems = await Promise.all(disks.map((disk) => diskProblem(disk, plan)));
  return [...memoryProblem(plan, host), ...cpuProblem(plan, host), ...problems.flat()];
}

function memoryProblem({ memoryMiB }: HostPlan, { memoryBytes }: Host): Reason[] {
  const has = Math.floor(memoryBytes / MIB);
  if (has >= memoryMiB) return [];
  return [
    problemOf(
      "host_memory_short",
      `The container may use ${memoryMiB} MiB, and the engine's machine has ${has} MiB.`,
      "Lower the limit (pulumi config set steward:memoryMiB <MiB>), or give the machine more memory.",
    ),
  ];
}

/** Docker refuses a container that may use more than there is, in the middle of an update. */
function cpuProblem({ cpus }: HostPlan, host: Host): Reason[] {
  if (host.cpus >= Number(cpus)) return [];
  return [
    problemOf(
      "host_cpus_short",
      `The container may use ${cpus} processors, and the engine's machine has ${host.cpus}.`,
      "Lower the limit (pulumi config set steward:cpus <number>), or give the machine more processors.",
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
      `The disk of ${directory} has ${free} MiB free, and ${diskMiB} MiB are asked for.`,
      "Free space (docker system df shows what the engine holds), or lower steward:diskMiB.",
    ),
  ];
}
