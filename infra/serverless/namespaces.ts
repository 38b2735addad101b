import { askAccount, type AccountAccess } from "./account-api.ts";

/**
 * Durable Object namespace of a Worker's class. Every preview asks for it, without the official client: loading
 * that takes longer than everything else that an unchanged application needs.
 */

/** Whose class. */
export interface NamespaceOwner {
  scriptName: string;
  className: string;
}

interface Namespace {
  id?: string | undefined;
  script?: string | undefined;
  class?: string | undefined;
}

/** Returns the namespace of a Worker's class; `undefined` if the class does not exist yet. */
export async function findNamespace(
  access: AccountAccess,
  { scriptName, className }: NamespaceOwner,
): Promise<string | undefined> {
  for await (const namespace of listNamespaces(access)) {
    if (namespace.script === scriptName && namespace.class === className) return namespace.id;
  }
  return undefined;
}

/** Returns the class that a namespace belongs to; `undefined` if the account has no such namespace any more. */
export async function findOwner(
  access: AccountAccess,
  namespaceId: string,
): Promise<{ script: string; class: string } | undefined> {
  for await (const { id, script = "", class: className = "" } of listNamespaces(access)) {
    if (id === namespaceId) return { script, class: className };
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
