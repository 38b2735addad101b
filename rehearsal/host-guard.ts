import { BuildFailure } from "../infra/shell/failure.ts";
import { runProcess } from "../infra/shell/process.ts";
import { HOST_NAMES } from "../runtime/contract/names.ts";

/**
 * Throws if the Docker engine already has a host stack's container or volume. A rehearsal, which uses the same names,
 * would delete them.
 */
export async function refuseForeignHostStack(): Promise<void> {
  const { container, volume } = HOST_NAMES;
  const found = await Promise.all([exists("container", container), exists("volume", volume)]);
  const names = [container, volume].filter((_name, index) => found[index]);
  if (names.length === 0) return;
  throw new BuildFailure(
    "host_names_taken",
    `Docker already has ${names.join(" and ")}, which this rehearsal did not create`,
    `Rehearse on another engine or, if unused, docker rm -f ${container}; docker volume rm ${volume}`,
  );
}

async function exists(kind: "container" | "volume", name: string): Promise<boolean> {
  return (await runProcess("docker", [kind, "inspect", name])).code === 0;
}
