import { StewardError } from "../../runtime/contract/errors.ts";
import { type AccountAccess, askAccount, callAccount, listInAccount } from "./account-api.ts";
import { listNamespaces } from "./namespaces.ts";
import { say } from "../shell/connection.ts";

const WAIT_MS = 300_000;

/** The instance types that Cloudflare offers. */
export type InstanceType = "lite" | "basic" | "standard-1" | "standard-2" | "standard-3" | "standard-4";

/** Settings of an application that can change in place. */
export interface ApplicationSettings {
  image: string;
  instanceType: InstanceType;
  maxInstances: number;
}

/** A live application. */
export interface LiveApplication extends ApplicationSettings {
  id: string;
  namespaceId: string | undefined;
}

const POLL_INTERVAL_MS = 500;
const POLL_LIMIT_MS = 300_000;

/** https://developers.cloudflare.com/api/resources/containers/subresources/applications/ */
export const APPLICATIONS = "containers/applications";

/**
 * Returns the application of that name, whichever Durable Object namespace it belongs to; `undefined` if there is none.
 */
export async function findApplication(
  access: AccountAccess,
  name: string,
): Promise<LiveApplication | undefined> {
  for await (const found of listInAccount<ApplicationAnswer>(access, APPLICATIONS, { name })) {
    if (found.name === name) return toLive(found);
  }
  return undefined;
}

/** Returns an application; `undefined` if it is gone. */
export async function getApplication(
  access: AccountAccess,
  id: string,
): Promise<LiveApplication | undefined> {
  const found = await askAccount<ApplicationAnswer>(access, `${APPLICATIONS}/${id}`);
  return found ? toLive(found) : undefined;
}

/**
 * Deletes an application and waits until it is gone. Cloudflare deletes in the background: the name and the class are
 * free when it answers 404.
 */
export async function deleteApplication(access: AccountAccess, id: string): Promise<void> {
  await askAccount(access, `${APPLICATIONS}/${id}`, { method: "DELETE" });
  const end = Date.now() + POLL_LIMIT_MS;
  while (await getApplication(access, id)) {
    if (Date.now() > end) throw new Error(`The container application ${id} is still being deleted.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

/** Changes the maximum number of containers in place (PATCH). Rolls out a changed image or instance type. */
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

/** Returns the line that tells how many containers may run, where that changes. */
export function maxInstancesLine(before: number, after: number): string {
  return `Containers that may run at a time: ${before} → ${after}`;
}

/** Part of the responses that is used here. */
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
    // The API returns the same names of instance types that it accepts.
    instanceType: (typeof given.instance_type === "string" ? given.instance_type : "lite") as InstanceType,
    maxInstances: max_instances ?? 0,
    namespaceId: durable_objects?.namespace_id,
  };
}

/** Image and instance type that a rollout gives to an application's containers. */
interface RolloutTarget {
  image: string;
  instanceType: string;
}

/** Part of Cloudflare's response that is used here. */
interface Rollout {
  id: string;
  status: "pending" | "progressing" | "completed" | "reverted" | "replaced";
  target_configuration: { image?: string; instance_type?: string };
  progress?: { updated_instances: number; total_instances: number };
  health?: { errors?: { event: { name: string; message: string } }[] };
}

/**
 * Rolls the containers of an application over to an image and instance type, and prints the progress. If a rollout to
 * the same target is still running since an interrupted update, follows it instead of starting another. Cloudflare
 * chooses when it replaces a running container, so after five minutes the rest is left to Cloudflare.
 *
 * @throws StewardError `rollout_failed` if the rollout was reverted or replaced.
 */
async function rollOut(access: AccountAccess, applicationId: string, target: RolloutTarget): Promise<void> {
  const path = `${APPLICATIONS}/${applicationId}`;
  let rollout = (await underWay(access, path, target)) ?? (await start(access, path, target));
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

async function underWay(
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

/** Starts a rollout. A repeated request does no harm: its rollout replaces the first one, to the same target. */
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

/** A container application whose Durable Object namespace is gone: nothing starts its containers any more. */
export interface Orphan {
  id: string;
  name: string;
  /** The namespace that is gone. */
  namespaceId: string;
}

/** Returns the account's orphans, whichever stack has left them. */
export async function findOrphans(access: AccountAccess): Promise<Orphan[]> {
  const tied: Orphan[] = [];
  // The applications are listed first: a namespace is created before its application, so an application that is created
  // meanwhile is not taken for an orphan.
  const applications = listInAccount<ApplicationAnswer>(access, APPLICATIONS);
  for await (const { id, name, durable_objects: owner } of applications) {
    if (owner?.namespace_id) tied.push({ id, name, namespaceId: owner.namespace_id });
  }
  const living = new Set<string | undefined>();
  for await (const { id } of listNamespaces(access)) living.add(id);
  return tied.filter(({ namespaceId }) => !living.has(namespaceId));
}

/**
 * Deletes one of the account's orphans, and waits until it is gone.
 *
 * @throws StewardError `application_in_use` if the id does not belong to an orphan.
 */
export async function deleteOrphan(access: AccountAccess, id: string): Promise<Orphan> {
  const orphan = (await findOrphans(access)).find((one) => one.id === id);
  if (orphan === undefined) throw new StewardError("application_in_use");
  await deleteApplication(access, id);
  return orphan;
}
