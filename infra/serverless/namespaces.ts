import type Cloudflare from "cloudflare";
import { askAccount, type AccountAccess } from "./account-api.ts";

/**
 * Durable Object namespace of a Worker's class. Every preview asks for it, without the official client: loading
 * that takes longer than everything else that an unchanged application needs.
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

/** Returns the class that a namespace belongs to; `undefined` if the account has no such namespace any more. */
export async function findOwner(
  client: Cloudflare,
  accountId: string,
  namespaceId: string,
): Promise<{ script: string; class: string } | undefined> {
  for await (const { id, script, class: className } of client.durableObjects.namespaces.list({
    account_id: accountId,
  })) {
    if (id === namespaceId) return { script: script ?? "", class: className ?? "" };
  }
  return undefined;
}

/** {@link findNamespace} without the client. */
export function lookUpNamespace(
  { apiToken = "", baseURL }: ProviderSettings,
  owner: NamespaceOwner,
): Promise<string | undefined> {
  return idOf(listNamespaces({ accountId: owner.accountId, apiToken, baseURL }), owner);
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

/**
 * Lists the account's namespaces without the official client.
 * https://developers.cloudflare.com/api/resources/durable_objects/subresources/namespaces/methods/list/
 */
export async function* listNamespaces(access: AccountAccess): AsyncGenerator<Namespace> {
  for (let page = 1; ; page += 1) {
    const result = await askAccount<Namespace[]>(access, `workers/durable_objects/namespaces?page=${page}`);
    // A page past the end is empty.
    if (result === undefined || result.length === 0) return;
    yield* result;
  }
}
