import { dockerAvailable } from "../shell/docker.ts";
import { StewardError, type Reason } from "../../runtime/contract/errors.ts";
import { configProblems } from "./preflight/config.ts";
import { dataProblems } from "./preflight/data.ts";
import { lookAt, type HostPlan } from "./preflight/engine.ts";
import { portProblems } from "./preflight/port.ts";
import { problemOf } from "./preflight/problem.ts";
import { roomProblems } from "./preflight/room.ts";

const LOCAL =
  "Start it (systemctl start docker), be in the group docker, or set steward:docker to the engine's address.";
const BY_SSH =
  "See to it that ssh reaches the host without a question (key, known_hosts), and its user the engine there (group docker): ssh <user>@<host> docker version.";

/**
 * Looks whether the host can take what is about to be deployed. It changes nothing, so a preview asks too.
 *
 * @throws StewardError `host_not_ready` with every problem, its code and its fix.
 */
export async function preflight(plan: HostPlan): Promise<void> {
  const problems = await findProblems(plan);
  if (problems.length > 0) throw new StewardError("host_not_ready", formatted(problems));
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
  const host = await lookAt(plan);
  const found = await Promise.all([
    portProblems(plan, host),
    dataProblems(plan, host),
    configProblems(plan, host),
    roomProblems(plan, host),
  ]);
  return found.flat();
}

function formatted(problems: readonly Reason[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.flatMap(({ code, detail, fix }) => [`  ${code}: ${detail}`, `    fix: ${fix}`]);
  return [`The host cannot take this deployment (host_not_ready), ${count}:`, ...lines].join("\n");
}
