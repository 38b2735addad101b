import { runProcess } from "../../../infra/shell/process.ts";

/** Seconds between SIGTERM and SIGKILL, much less than Cloudflare's 15 minutes. */
const STOP_GRACE_S = 10;

/**
 * Removes a namespace's workerd containers and their sidecars. A killed workerd leaves containers behind, which the
 * next workerd would adopt with their old environment.
 */
export async function removeContainers(namespaceId: string): Promise<void> {
  const ids = await containersOf(namespaceId, "--all");
  if (ids.length === 0) return;
  await runProcess("docker", ["stop", "--time", String(STOP_GRACE_S), ...ids], { timeoutMs: 60_000 });
  await runProcess("docker", ["rm", "--force", "--volumes", ...ids], { timeoutMs: 60_000 });
}

/**
 * Kills the process `pid` in every container of a namespace. Does not affect sidecars, because they have no process
 * with this id.
 */
export async function killInContainers(namespaceId: string, pid: number): Promise<void> {
  for (const id of await containersOf(namespaceId))
    await runProcess("docker", ["exec", "--user", "0", id, "sh", "-c", `kill -KILL ${pid}`], {
      timeoutMs: 30_000,
    });
}

async function containersOf(namespaceId: string, ...words: string[]): Promise<string[]> {
  const filter = `name=^/?workerd-.*${namespaceId}-`;
  const listed = await runProcess("docker", ["ps", "--quiet", ...words, "--filter", filter], {
    timeoutMs: 30_000,
  });
  return listed.stdout.split(/\s+/).filter((id) => id !== "");
}
