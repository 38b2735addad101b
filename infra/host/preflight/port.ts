import { once } from "node:events";
import { createServer } from "node:net";
import type { Reason } from "../../../runtime/contract/errors.ts";
import { docker } from "../../shell/docker.ts";
import { runProcess } from "../../shell/process.ts";
import { previousName } from "../update/previous.ts";
import { type HostFacts, type HostPlan, problemOf } from "./engine.ts";

const ANY = new Set(["0.0.0.0", "::", "[::]", ""]);

export async function portProblems(plan: HostPlan, { local }: HostFacts): Promise<Reason[]> {
  const { names, port } = plan;
  const containers = await publishers(plan);
  // The service's current or previous container releases the port when it is replaced.
  if (containers.some((name) => [names.container, previousName(names.container)].includes(name))) return [];
  const [container] = containers;
  if (container !== undefined) return [await takenByContainer(plan, container)];
  // Check for other programs on the port only if the Docker engine runs on this machine. The ports of a remote
  // machine cannot be tested from here.
  if (!local || (await isFree(port))) return [];
  const holder = await processAt(port.external);
  // Do not suggest killing Docker's proxy: that would cut off the container without stopping it.
  if (holder?.name === "docker-proxy") {
    const look = `docker --context <name> ps --filter publish=${port.external}, with a name of docker context ls, shows it`;
    return [portInUse(plan, "a container of another Docker engine on this machine", look)];
  }
  const known = holder && { by: `${holder.name} (process ${holder.pid})`, stop: `kill ${holder.pid}` };
  const by = known?.by ?? "another process";
  return [portInUse(plan, by, known?.stop ?? `sudo ss -ltnp "sport = :${port.external}" names it`)];
}

/**
 * Reports that the container uses the port. If the container has the service's data, suggests renaming the container.
 */
async function takenByContainer(plan: HostPlan, container: string): Promise<Reason> {
  const { names, directory, environment: env } = plan;
  const problem = portInUse(plan, `the container ${container}`, `docker stop ${container}`);
  const format = "{{range .Mounts}}{{println .Name}}{{println .Source}}{{end}}";
  const { stdout } = await docker(["container", "inspect", `--format=${format}`, container], { env });
  if (!stdout.split("\n").includes(directory ?? names.volume)) return problem;
  for (const free of [names.container, previousName(names.container)]) {
    const { code } = await runProcess("docker", ["container", "inspect", free], { env });
    const fix = `It is this service under another name: docker rename ${container} ${free}`;
    if (code !== 0) return { ...problem, fix };
  }
  return problem;
}

function portInUse({ port, commands }: HostPlan, by: string, stop: string): Reason {
  return problemOf(
    "port_in_use",
    `Port ${port.external} on ${port.address} is in use by ${by}.`,
    `Stop it (${stop}), or choose another one: \`${commands.configSet("steward:hostPort", "<port>")}\`.`,
  );
}

/** Returns the names of running containers that publish the plan's port on an overlapping address. */
async function publishers({ port, environment }: HostPlan): Promise<string[]> {
  const format = ["--format", "{{.Names}}\t{{.Ports}}"];
  const filter = `publish=${port.external}/tcp`;
  const { stdout } = await docker(["ps", "--filter", filter, ...format], { env: environment });
  const rows = stdout.split("\n").filter((line) => line !== "");
  return rows.flatMap((row) => {
    const [name = "", ports = ""] = row.split("\t");
    const holds = ports.split(", ").some((text) => {
      const [, address = "", external] = /^(.*):(\d+)->/.exec(text) ?? [];
      return external === String(port.external) && overlap(address, port.address);
    });
    return holds ? [name] : [];
  });
}

function overlap(one: string, other: string): boolean {
  return one === other || ANY.has(one) || ANY.has(other);
}

async function isFree({ external, address }: HostPlan["port"]): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(external, address);
    await once(server, "listening");
    return true;
  } catch (error) {
    // Ignore other errors: this user may not bind a port below 1024, but the engine may.
    return !(error instanceof Error && "code" in error && error.code === "EADDRINUSE");
  } finally {
    server.close();
  }
}

/** Returns the listening process, if this user may see it. */
async function processAt(port: number): Promise<{ name: string; pid: string } | undefined> {
  const { code, stdout } = await runProcess("ss", ["-Hltnp", `sport = :${port}`]);
  const [, name, pid] = (code === 0 && /users:\(\("([^"]+)",pid=(\d+)/.exec(stdout)) || [];
  return name !== undefined && pid !== undefined ? { name, pid } : undefined;
}
