import { type AccountAccess, askAccount } from "./account-api.ts";
import type { AppliedMigrations } from "./migration-list.ts";
import { listNamespaces } from "./namespaces.ts";

export interface LiveWorker extends AppliedMigrations {
  id: string;
}

/** https://developers.cloudflare.com/api/resources/workers/subresources/scripts/methods/list/ */
interface ListedScript {
  id?: string;
  migration_tag?: string;
}

/**
 * Reads a Worker with its applied migrations; `undefined` if it does not exist.
 *
 * @throws AccountError
 */
export async function readLiveWorker(access: AccountAccess, name: string): Promise<LiveWorker | undefined> {
  const [worker, scripts, classes] = await Promise.all([
    askAccount<{ id: string }>(access, `workers/workers/${name}`),
    askAccount<ListedScript[]>(access, "workers/scripts"),
    classesOf(access, name),
  ]);
  if (worker === undefined) return undefined;
  const tag = scripts?.find(({ id }) => id === name)?.migration_tag;
  // Without migrations, Cloudflare returns an empty tag or none.
  return { id: worker.id, tag: tag || undefined, classes };
}

async function classesOf(access: AccountAccess, name: string): Promise<string[]> {
  const classes: string[] = [];
  for await (const one of listNamespaces(access)) {
    if (one.script === name && one.class) classes.push(one.class);
  }
  return classes;
}

export interface WorkerOrigin {
  /** Last deployment, such as `2026-11-25T02:00:00Z by op@example.com from wrangler`; `undefined` if there is none. */
  deployed: string | undefined;
  bucketName: string | undefined;
}

/** https://developers.cloudflare.com/api/resources/workers/subresources/scripts/subresources/deployments/ */
interface ListedDeployments {
  deployments: {
    created_on: string;
    source?: string;
    author_email?: string;
    versions: { version_id: string }[];
  }[];
}

/** https://developers.cloudflare.com/api/resources/workers/subresources/scripts/subresources/versions/methods/get/ */
interface ScriptVersion {
  resources?: { bindings?: { name?: string; type?: string; bucket_name?: string }[] };
}

/**
 * Reads who last deployed a Worker, and which bucket it binds.
 *
 * @throws AccountError
 */
export async function readOrigin(
  access: AccountAccess,
  name: string,
  bindingName: string,
): Promise<WorkerOrigin> {
  const script = `workers/scripts/${name}`;
  const listed = await askAccount<ListedDeployments>(access, `${script}/deployments`);
  const newest = listed?.deployments[0];
  if (newest === undefined) return { deployed: undefined, bucketName: undefined };
  const { created_on: time, author_email: author, source, versions } = newest;
  const version = await askAccount<ScriptVersion>(access, `${script}/versions/${versions[0]?.version_id}`);
  const bound = version?.resources?.bindings?.find((one) => one.name === bindingName);
  const words = [time, author && `by ${author}`, source && `from ${source}`].filter(Boolean);
  return { deployed: words.join(" "), bucketName: bound?.bucket_name };
}
