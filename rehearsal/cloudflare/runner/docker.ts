import { run } from "../../../infra/shell/process.ts";

/** Seconds between SIGTERM and SIGKILL. The platform waits up to 15 minutes. */
const STOP_GRACE_S = 10;

/**
 * Stops and removes workerd's containers of one namespace, each with its sidecar. workerd names them
 * `workerd-<namespace>-<object>`, is ended hard and leaves them behind; the next workerd would adopt them with
 * their old environment. Removing both together matters: one without the other answers 500.
 */
export async function removeContainers(namespaceId: string): Promise<void> {
  const filter = `name=^/?workerd-.*${namespaceId}-`;
  const listed = await run("docker", ["ps", "--all", "--quiet", "--filter", filter], { timeoutMs: 30_000 });
  const ids = listed.stdout.split(/\s+/).filter((id) => id !== "");
  if (ids.length === 0) return;
  await run("docker", ["stop", "--time", String(STOP_GRACE_S), ...ids], { timeoutMs: 60_000 });
  await run("docker", ["rm", "--force", "--volumes", ...ids], { timeoutMs: 60_000 });
}
