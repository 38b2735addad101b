import type Cloudflare from "cloudflare";
import { readInAccount, type AccountAccess } from "./account-api.ts";
import { connect } from "./container-api.ts";

/**
 * Durable Object namespace of a Worker's class. Every preview asks for it, without the official client at first: to
 * load that takes longer than all else that an unchanged application needs.
 */

/** Whose class. */
export interface NamespaceOwner {
  accountId: string;
  scriptName: string;
  className: string;
}

/** Settings of the provider; `baseURL` defaults to Cloudflare's own address. */
export interface ProviderSettings {
  apiToken?: string | undefined;
  baseURL?: string | undefined;
}

interface Namespace {
  id?: string | undefined;
  script?: string | undefined;
  class?: string | undefined;
}

/** The namespace of a Worker's class, `undefined` where the class does not exist (yet). */
export async function findNamespace(client: Cloudflare, owner: NamespaceOwner): Promise<string | undefined> {
  return idOf(client.durableObjects.namespaces.list({ account_id: owner.accountId }), owner);
}

/** {@link findNamespace} without the client where Cloudflare answers at once; else by it, which asks again. */
export async function lookUpNamespace(
  { apiToken, baseURL }: ProviderSettings,
  owner: NamespaceOwner,
): Promise<string | undefined> {
  try {
    if (!apiToken) throw new Error("No API token");
    return await idOf(plainList({ accountId: owner.accountId, apiToken, baseURL }), owner);
  } catch {
    return findNamespace(await connect(apiToken, baseURL), owner);
  }
}

async function idOf(
  namespaces: AsyncIterable<Namespace>,
  owner: NamespaceOwner,
): Promise<string | undefined> {
  for await (const namespace of namespaces) {
    if (namespace.script === owner.scriptName && namespace.class === owner.className) return namespace.id;
  }
  return undefined;
}

/** https://developers.cloudflare.com/api/resources/durable_objects/subresources/namespaces/methods/list/ */
async function* plainList(access: AccountAccess): AsyncGenerator<Namespace> {
  for (let page = 1; ; page += 1) {
    const response = await readInAccount(access, `workers/durable_objects/namespaces?page=${page}`);
    const { result } = (await response.json()) as { result: Namespace[] | null };
    if (!response.ok || result === null) throw new Error(`Cloudflare answered ${response.status}`);
    // A page past the end is empty.
    if (result.length === 0) return;
    yield* result;
  }
}
