import type Cloudflare from "cloudflare";
import { rollOut } from "./rollout.ts";

/**
 * What the provider of `ContainerApplication` asks of Cloudflare's API. Serialised with it: the
 * client is loaded when it is needed, never captured.
 */

/** The instance types that Cloudflare offers. */
export type InstanceType = "lite" | "basic" | "standard-1" | "standard-2" | "standard-3" | "standard-4";

/** What of an application can change in place. */
export interface ApplicationSettings {
  image: string;
  instanceType: InstanceType;
  maxInstances: number;
}

/** An application as it is live. */
export interface LiveApplication extends ApplicationSettings {
  id: string;
  namespaceId: string | undefined;
}

const POLL_INTERVAL_MS = 500;
const POLL_LIMIT_MS = 300_000;

/** The official client; `baseURL` defaults to Cloudflare's own address. */
export async function connect(
  apiToken: string | undefined,
  baseURL: string | undefined,
): Promise<Cloudflare> {
  if (!apiToken) {
    throw new Error("No API token. Run `pulumi config set --secret cloudflare:apiToken <token>`.");
  }
  const { default: Client } = await import("cloudflare");
  return new Client({ apiToken, ...(baseURL && { baseURL }) });
}

/** The application of that name, whatever it is tied to. */
export async function findApplication(
  client: Cloudflare,
  { accountId, name }: { accountId: string; name: string },
): Promise<LiveApplication | undefined> {
  for await (const found of client.containers.applications.list({ account_id: accountId, name })) {
    if (found.name === name) return toLive(found);
  }
  return undefined;
}

/** The application, `undefined` when it is gone. */
export async function getApplication(
  client: Cloudflare,
  accountId: string,
  id: string,
): Promise<LiveApplication | undefined> {
  const found = await client.containers.applications.get(id, { account_id: accountId }).catch(unlessGone);
  return found ? toLive(found) : undefined;
}

/** Cloudflare deletes in the background: the name and the class are free when it answers 404. */
export async function deleteApplication(client: Cloudflare, accountId: string, id: string): Promise<void> {
  await client.containers.applications.delete(id, { account_id: accountId }).catch(unlessGone);
  const end = Date.now() + POLL_LIMIT_MS;
  while (await getApplication(client, accountId, id)) {
    if (Date.now() > end) throw new Error(`The container application ${id} is still being deleted.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

/** PATCH for the limits; a rollout for what the running containers are made of. */
export async function applyChanges(
  client: Cloudflare,
  accountId: string,
  { id, ...live }: LiveApplication,
  { image, instanceType, maxInstances }: ApplicationSettings,
): Promise<void> {
  if (live.maxInstances !== maxInstances) {
    await client.containers.applications.edit(id, { account_id: accountId, max_instances: maxInstances });
  }
  if (live.image === image && live.instanceType === instanceType) return;
  await rollOut(client, accountId, id, { image, instanceType });
}

/** The part of the answers that is read here: the client's own types are unions by scheduling policy. */
interface ApplicationAnswer {
  id: string;
  max_instances?: number | undefined;
  configuration?: object | undefined;
  durable_objects?: { namespace_id?: string | undefined } | undefined;
}

function toLive({ id, max_instances, configuration, durable_objects }: ApplicationAnswer): LiveApplication {
  const given: { image?: unknown; instance_type?: unknown } = { ...configuration };
  return {
    id,
    image: typeof given.image === "string" ? given.image : "",
    // The API answers with the words that it takes.
    instanceType: (typeof given.instance_type === "string" ? given.instance_type : "lite") as InstanceType,
    maxInstances: max_instances ?? 0,
    namespaceId: durable_objects?.namespace_id,
  };
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Error && "status" in error && error.status === 404) return undefined;
  throw error;
}
