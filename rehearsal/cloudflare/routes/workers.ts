import { Hono } from "hono";
import * as z from "zod";
import { runDeployed, timestamp, type AccountContext } from "../account/context.ts";
import { hexId } from "../account/ids.ts";
import { hostnameOf, workerOf } from "../account/lookup.ts";
import type { AccountState, WorkerRecord } from "../account/state.ts";
import { ApiError, ok, page, readBody } from "../envelope.ts";

const subdomain = z
  .object({ enabled: z.boolean().optional(), previews_enabled: z.boolean().optional() })
  .optional();

// https://developers.cloudflare.com/workers/configuration/routing/workers-dev/
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a Worker's name is one lower-case DNS label");
const createBody = z.looseObject({ name, subdomain });
const editBody = z.looseObject({ name: name.optional(), subdomain });

/** https://developers.cloudflare.com/api/resources/workers/subresources/beta/subresources/workers/ */
export function workerRoutes(account: AccountContext): Hono {
  const { store } = account;
  const routes = new Hono();

  routes.post("/", async (context) => {
    const body = await readBody(context, createBody);
    const worker = await store.change((draft) => create(account, draft, body));
    return ok(context, present(store.state, worker));
  });

  routes.get("/", (context) => {
    return page(
      context,
      store.state.workers.map((worker) => present(store.state, worker)),
    );
  });

  routes.get("/:worker", (context) => {
    return ok(context, present(store.state, workerOf(store.state, context.req.param("worker"))));
  });

  routes.on(["PUT", "PATCH"], "/:worker", async (context) => {
    const body = await readBody(context, editBody);
    const replace = context.req.method === "PUT";
    const worker = await store.change((draft) => {
      return edit(account, draft, context.req.param("worker"), body, replace);
    });
    return ok(context, present(store.state, worker));
  });

  routes.delete("/:worker", async (context) => {
    await store.change(async (draft) => {
      remove(draft, workerOf(draft, context.req.param("worker")));
      await runDeployed(account, draft);
    });
    const used = store.state.versions.flatMap(({ modules }) => modules.map(({ sha256 }) => sha256));
    account.modules.prune(new Set(used));
    return ok(context, null);
  });

  return routes;
}

function create(
  account: AccountContext,
  draft: AccountState,
  body: z.infer<typeof createBody>,
): WorkerRecord {
  const { name, subdomain, ...settings } = body;
  if (draft.workers.some((worker) => worker.name === name)) {
    throw new ApiError(409, 10019, `A Worker with the name '${name}' already exists.`);
  }
  const now = timestamp(account);
  const worker: WorkerRecord = {
    id: hexId(),
    name,
    created_on: now,
    updated_on: now,
    deployed_on: null,
    subdomain: {
      enabled: subdomain?.enabled ?? false,
      previews_enabled: subdomain?.previews_enabled ?? false,
    },
    settings,
    schedules: [],
  };
  draft.workers.push(worker);
  return worker;
}

function edit(
  account: AccountContext,
  draft: AccountState,
  idOrName: string,
  body: z.infer<typeof editBody>,
  replace: boolean,
): WorkerRecord {
  const worker = workerOf(draft, idOrName);
  const { name, subdomain, ...settings } = body;
  // Not emulated: on Cloudflare, a rename moves host names, namespaces and storage. The stack never renames a Worker.
  if (name !== undefined && name !== worker.name) {
    throw new ApiError(501, 10501, "The rehearsal's emulation does not model renaming a Worker");
  }
  const former = replace ? { enabled: false, previews_enabled: false } : worker.subdomain;
  worker.subdomain = {
    enabled: subdomain?.enabled ?? former.enabled,
    previews_enabled: subdomain?.previews_enabled ?? former.previews_enabled,
  };
  worker.settings = replace ? settings : { ...worker.settings, ...settings };
  worker.updated_on = timestamp(account);
  return worker;
}

/**
 * Removes a Worker and its Durable Object namespaces. Their container applications remain as orphans:
 * https://github.com/cloudflare/workers-sdk/issues/12483
 */
function remove(draft: AccountState, worker: WorkerRecord): void {
  draft.workers = draft.workers.filter((one) => one !== worker);
  draft.versions = draft.versions.filter(({ workerId }) => workerId !== worker.id);
  draft.deployments = draft.deployments.filter(({ workerId }) => workerId !== worker.id);
  draft.namespaces = draft.namespaces.filter(({ script }) => script !== worker.name);
}

function present(state: AccountState, worker: WorkerRecord): Record<string, unknown> {
  return {
    logpush: false,
    observability: { enabled: false },
    tags: [],
    tail_consumers: [],
    ...worker.settings,
    id: worker.id,
    name: worker.name,
    created_on: worker.created_on,
    updated_on: worker.updated_on,
    deployed_on: worker.deployed_on,
    subdomain: { ...worker.subdomain, url: `https://${hostnameOf(state, worker)}` },
    references: {
      dispatch_namespace_outbounds: [],
      domains: [],
      durable_objects: [],
      queues: [],
      workers: [],
    },
  };
}
