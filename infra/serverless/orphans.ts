import type Cloudflare from "cloudflare";
import { StewardError } from "../../runtime/contract/errors.ts";
import { deleteApplication } from "./container-api.ts";

/** A container application whose Durable Object namespace is gone: nothing starts its containers any more. */
export interface Orphan {
  id: string;
  name: string;
  /** The namespace that is gone. */
  namespaceId: string;
}

/** The account's orphans, whatever stack has left them. */
export async function findOrphans(client: Cloudflare, accountId: string): Promise<Orphan[]> {
  const inAccount = { account_id: accountId };
  const tied: Orphan[] = [];
  // The applications first: a namespace comes before its application, so one that is made meanwhile is no orphan.
  for await (const { id, name, durable_objects: owner } of client.containers.applications.list(inAccount)) {
    if (owner?.namespace_id) tied.push({ id, name, namespaceId: owner.namespace_id });
  }
  const living = new Set<string | undefined>();
  for await (const { id } of client.durableObjects.namespaces.list(inAccount)) living.add(id);
  return tied.filter(({ namespaceId }) => !living.has(namespaceId));
}

/**
 * Deletes one of the account's orphans, and waits until it is gone.
 *
 * @throws StewardError `application_in_use` where the id is none of an orphan.
 */
export async function removeOrphan(client: Cloudflare, accountId: string, id: string): Promise<Orphan> {
  const orphan = (await findOrphans(client, accountId)).find((one) => one.id === id);
  if (orphan === undefined) throw new StewardError("application_in_use");
  await deleteApplication(client, accountId, id);
  return orphan;
}
