import type Cloudflare from "cloudflare";
import { ERRORS } from "../../runtime/contract/errors.ts";

/** What the containers of an application are made of. */
export interface RolloutTarget {
  image: string;
  instanceType: string;
}

/** The part of Cloudflare's answer that is read here. */
interface Rollout {
  id: string;
  status: "pending" | "progressing" | "completed" | "reverted" | "replaced";
  target_configuration: { image?: string; instance_type?: string };
  progress?: { updated_instances: number; total_instances: number };
  health?: { errors?: { event: { name: string; message: string } }[] };
}

// Serialised with the provider that uses it: texts and numbers alone.
const { fix: FAILED_FIX } = ERRORS.rollout_failed;
const POLL_INTERVAL_MS = 500;
const WAIT_MS = 300_000;

/**
 * Rolls the containers of an application over to an image and instance type, and tells how far it is. One that
 * is under way to the same, since an update was cut off, is followed and not started again. Running containers
 * are replaced at their own time, so after five minutes the rest is left to Cloudflare.
 *
 * @throws Error `rollout_failed` where Cloudflare goes back to the former one.
 */
export async function rollOut(
  client: Cloudflare,
  accountId: string,
  applicationId: string,
  target: RolloutTarget,
): Promise<void> {
  const path = `/accounts/${accountId}/containers/applications/${applicationId}`;
  let rollout = (await underWay(client, path, target)) ?? (await start(client, path, target));
  let told = "";
  const end = Date.now() + WAIT_MS;
  while (rollout.status === "pending" || rollout.status === "progressing") {
    const line = progressLine(rollout, target);
    if (line !== told) process.stdout.write(`${line}\n`);
    told = line;
    if (Date.now() > end) {
      process.stdout.write("The rollout goes on at Cloudflare.\n");
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    rollout = await get<Rollout>(client, `${path}/rollouts/${rollout.id}`);
  }
  if (rollout.status !== "completed") throw new Error(failureText(rollout, target));
}

async function underWay(
  client: Cloudflare,
  path: string,
  target: RolloutTarget,
): Promise<Rollout | undefined> {
  const { active_rollout_id: id } = await get<{ active_rollout_id?: string }>(client, path);
  if (id === undefined) return undefined;
  const rollout = await get<Rollout>(client, `${path}/rollouts/${id}`);
  const { image, instance_type: instanceType } = rollout.target_configuration;
  return image === target.image && instanceType === target.instanceType ? rollout : undefined;
}

async function start(client: Cloudflare, path: string, target: RolloutTarget): Promise<Rollout> {
  const { image, instanceType } = target;
  const body = {
    description: `${image} on ${instanceType}`,
    strategy: "rolling",
    kind: "full_auto",
    step_percentage: 100,
    target_configuration: { image, instance_type: instanceType },
  };
  return (await client.post<{ result: Rollout }>(`${path}/rollouts`, { body })).result;
}

/** The client has no call of its own for reading a rollout. */
async function get<Result>(client: Cloudflare, path: string): Promise<Result> {
  return (await client.get<{ result: Result }>(path)).result;
}

function progressLine({ status, progress }: Rollout, { image }: RolloutTarget): string {
  const count = progress && `, ${progress.updated_instances} of ${progress.total_instances} containers`;
  return `Rollout of ${image}: ${status}${count ?? ""}`;
}

function failureText({ status, health }: Rollout, { image, instanceType }: RolloutTarget): string {
  const events = (health?.errors ?? []).map(({ event }) => `${event.name}: ${event.message}`);
  const why = events.length === 0 ? "" : ` Cloudflare says: ${events.join("; ")}.`;
  return `The rollout of ${image} on ${instanceType} was ${status} (rollout_failed).${why} ${FAILED_FIX}`;
}
