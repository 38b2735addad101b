import { callAccount, type AccountAccess } from "./account-api.ts";

export interface NamespaceOwner {
  scriptName: string;
  className: string;
}

interface Namespace {
  id?: string | undefined;
  script?: string | undefined;
  class?: string | undefined;
}

/** Returns the id of a Durable Object class's namespace; `undefined` if the class does not exist yet. */
export async function findNamespace(
  access: AccountAccess,
  { scriptName, className }: NamespaceOwner,
): Promise<string | undefined> {
  for await (const namespace of listNamespaces(access)) {
    if (namespace.script === scriptName && namespace.class === className) return namespace.id;
  }
  return undefined;
}

export async function findOwner(
  access: AccountAccess,
  namespaceId: string,
): Promise<{ script: string; class: string } | undefined> {
  for await (const { id, script = "", class: className = "" } of listNamespaces(access)) {
    if (id === namespaceId) return { script, class: className };
  }
  return undefined;
}

/** https://developers.cloudflare.com/api/resources/durable_objects/subresources/namespaces/methods/list/ */
export async function* listNamespaces(access: AccountAccess): AsyncGenerator<Namespace> {
  for (let page = 1; ; page += 1) {
    const path = `workers/durable_objects/namespaces?page=${page}`;
    const { result } = await callAccount<Namespace[] | null>(access, path);
    // A page past the end is empty.
    if (!result?.length) return;
    yield* result;
  }
}
