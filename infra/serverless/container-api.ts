import { StewardError } from "../../runtime/contract/errors.ts";
import { type AccountAccess, askAccount, callAccount, listInAccount } from "./account-api.ts";
import { listNamespaces } from "./namespaces.ts";
import { say } from "../shell/connection.ts";

const WAIT_MS = 300_000;

export type InstanceType = "lite" | "basic" | "standard-1" | "standard-2" | "standard-3" | "standard-4";

/** Settings of a container application. Changing one of them does not replace the application. */
export interface ApplicationSettings {
  image: string;
  instanceType: InstanceType;
  maxInstances: number;
}

export interface LiveApplication extends ApplicationSettings {
  id: string;
  namespaceId: string | undefined;
}

const POLL_INTERVAL_MS = 500;
const POLL_LIMIT_MS = 300_000;

/** https://developers.cloudflare.com/api/resources/containers/subresources/applications/ */
export const APPLICATIONS = "containers/applications";

export async function findApplication(
  access: AccountAccess,
  name: string,
): Promise<LiveApplication | undefined> {
  for await (const found of listInAccount<ApplicationAnswer>(access, APPLICATIONS, { name })) {
    if (found.name === name) return toLive(found);
  }
  return undefined;
}

export async function getApplication(
  access: AccountAccess,
  id: string,
): Promise<LiveApplication | undefined> {
  const found = await askAccount<ApplicationAnswer>(access, `${APPLICATIONS}/${id}`);
  return found ? toLive(found) : undefined;
}

/** Deletes an application and waits until Cloudflare answers 404. Until then, its name and class stay reserved. */
export async function deleteApplication(access: AccountAccess, id: string): Promise<void> {
  await askAccount(access, `${APPLICATIONS}/${id}`, { method: "DELETE" });
  const end = Date.now() + POLL_LIMIT_MS;
  while (await getApplication(access, id)) {
    if (Date.now() > end) throw new Error(`The container application ${id} is still being deleted.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

export async function applyChanges(
  access: AccountAccess,
  { id, ...live }: LiveApplication,
  { image, instanceType, maxInstances }: ApplicationSettings,
): Promise<void> {
  if (live.maxInstances !== maxInstances) {
    const body = { max_instances: maxInstances };
    await callAccount(access, `${APPLICATIONS}/${id}`, { method: "PATCH", body });
  }
  if (live.image === image && live.instanceType === instanceType) return;
  await rollOut(access, id, { image, instanceType });
}

export function maxInstancesLine(before: number, after: number): string {
  return `Maximum concurrent containers: ${before} → ${after}`;
}

interface ApplicationAnswer {
  id: string;
  name: string;
  max_instances?: number;
  configuration?: object;
  durable_objects?: { namespace_id?: string };
}

function toLive({ id, max_instances, configuration, durable_objects }: ApplicationAnswer): LiveApplication {
  const given: { image?: unknown; instance_type?: unknown } = { ...configuration };
  return {
    id,
    image: typeof given.image === "string" ? given.image : "",
    // The API returns the same instance type names that it accepts.
    instanceType: (typeof given.instance_type === "string" ? given.instance_type : "lite") as InstanceType,
    maxInstances: max_instances ?? 0,
    namespaceId: durable_objects?.namespace_id,
  };
}

interface RolloutTarget {
  image: string;
  instanceType: string;
}

interface Rollout {
  id: string;
  status: "pending" | "progressing" | "completed" | "reverted" | "replaced";
  target_configuration: { image?: string; instance_type?: string };
  progress?: { updated_instances: number; total_instances: number };
  health?: { errors?: { event: { name: string; message: string } }[] };
}

/**
 * Rolls out an image and instance type, and prints the progress. Waits for a running rollout to the same target
 * instead of starting another. Returns after five minutes even if the rollout continues, because Cloudflare decides
 * when to replace a running container.
 *
 * @throws StewardError `rollout_failed` if the rollout was reverted or replaced
 */
async function rollOut(access: AccountAccess, applicationId: string, target: RolloutTarget): Promise<void> {
  const path = `${APPLICATIONS}/${applicationId}`;
  let rollout = (await activeRollout(access, path, target)) ?? (await start(access, path, target));
  let told = "";
  const end = Date.now() + WAIT_MS;
  while (rollout.status === "pending" || rollout.status === "progressing") {
    const line = progressLine(rollout, target);
    if (line !== told) say(line);
    told = line;
    if (Date.now() > end) {
      say("The rollout continues at Cloudflare.");
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    rollout = (await callAccount<Rollout>(access, `${path}/rollouts/${rollout.id}`)).result;
  }
  if (rollout.status !== "completed") throw new StewardError("rollout_failed", failureText(rollout, target));
}

async function activeRollout(
  access: AccountAccess,
  path: string,
  target: RolloutTarget,
): Promise<Rollout | undefined> {
  const { active_rollout_id: id } = (await callAccount<{ active_rollout_id?: string }>(access, path)).result;
  if (id === undefined) return undefined;
  const { result: rollout } = await callAccount<Rollout>(access, `${path}/rollouts/${id}`);
  const { image, instance_type: instanceType } = rollout.target_configuration;
  return image === target.image && instanceType === target.instanceType ? rollout : undefined;
}

/** Starts a rollout. Safe to retry: a second rollout replaces the first and has the same target. */
async function start(access: AccountAccess, path: string, target: RolloutTarget): Promise<Rollout> {
  const { image, instanceType } = target;
  const body = {
    description: `${image} on ${instanceType}`,
    strategy: "rolling",
    kind: "full_auto",
    step_percentage: 100,
    target_configuration: { image, instance_type: instanceType },
  };
  return (await callAccount<Rollout>(access, `${path}/rollouts`, { method: "POST", body })).result;
}

function progressLine({ status, progress }: Rollout, { image }: RolloutTarget): string {
  const count = progress && `, ${progress.updated_instances} of ${progress.total_instances} containers`;
  return `Rollout of ${image}: ${status}${count ?? ""}`;
}

function failureText({ status, health }: Rollout, { image, instanceType }: RolloutTarget): string {
  const events = (health?.errors ?? []).map(({ event }) => `${event.name}: ${event.message}`);
  const why = events.length === 0 ? "" : ` Cloudflare says: ${events.join("; ")}.`;
  return `The rollout of ${image} on ${instanceType} was ${status}.${why}`;
}

/** A container application that outlived its Durable Object namespace, so nothing can start its containers. */
export interface Orphan {
  id: string;
  name: string;
  namespaceId: string;
}

/** Returns the account's orphaned container applications, including those of other stacks. */
export async function findOrphans(access: AccountAccess): Promise<Orphan[]> {
  const tied: Orphan[] = [];
  // List applications before namespaces. Otherwise, an application created between the two requests would look like
  // an orphan, because its namespace would not be listed.
  const applications = listInAccount<ApplicationAnswer>(access, APPLICATIONS);
  for await (const { id, name, durable_objects: owner } of applications) {
    if (owner?.namespace_id) tied.push({ id, name, namespaceId: owner.namespace_id });
  }
  const living = new Set<string | undefined>();
  for await (const { id } of listNamespaces(access)) living.add(id);
  return tied.filter(({ namespaceId }) => !living.has(namespaceId));
}

/**
 * Deletes an orphan and waits until it is gone.
 *
 * @throws StewardError `application_in_use` if the id does not belong to an orphan.
 */
export async function deleteOrphan(access: AccountAccess, id: string): Promise<Orphan> {
  const orphan = (await findOrphans(access)).find((one) => one.id === id);
  if (orphan === undefined) throw new StewardError("application_in_use");
  await deleteApplication(access, id);
  return orphan;
}
