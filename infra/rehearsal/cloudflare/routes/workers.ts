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

// https://developers.cloudflare.com/workers/configuration/routing/workers-dev/ : a name is one DNS label.
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a Worker's name is one lower-case DNS label");
const createBody = z.looseObject({ name, subdomain });
const editBody = z.looseObject({ name: name.optional(), subdomain });

/** https://developers.cloudflare.com/api/resources/workers/subresources/beta/subresources/workers/ */
export function workerRoutes(context: AccountContext): Hono {
  const { store } = context;
  const routes = new Hono();

  routes.post("/", async (request) => {
    const body = await readBody(request, createBody);
    const worker = await store.change((draft) => create(context, draft, body));
    return ok(request, present(store.state, worker));
  });

  routes.get("/", (request) => {
    return page(
      request,
      store.state.workers.map((worker) => present(store.state, worker)),
    );
  });

  routes.get("/:worker", (request) => {
    return ok(request, present(store.state, workerOf(store.state, request.req.param("worker"))));
  });

  routes.on(["PUT", "PATCH"], "/:worker", async (request) => {
    const body = await readBody(request, editBody);
    const replace = request.req.method === "PUT";
    const worker = await store.change((draft) => {
      return edit(context, draft, request.req.param("worker"), body, replace);
    });
    return ok(request, present(store.state, worker));
  });

  routes.delete("/:worker", async (request) => {
    await store.change(async (draft) => {
      remove(draft, workerOf(draft, request.req.param("worker")));
      await runDeployed(context, draft);
    });
    const used = store.state.versions.flatMap(({ modules }) => modules.map(({ sha256 }) => sha256));
    context.modules.prune(new Set(used));
    return ok(request, null);
  });

  return routes;
}

function create(
  context: AccountContext,
  draft: AccountState,
  body: z.infer<typeof createBody>,
): WorkerRecord {
  const { name, subdomain, ...settings } = body;
  if (draft.workers.some((worker) => worker.name === name)) {
    throw new ApiError(409, 10019, `A Worker with the name '${name}' already exists.`);
  }
  const now = timestamp(context);
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
  context: AccountContext,
  draft: AccountState,
  idOrName: string,
  body: z.infer<typeof editBody>,
  replace: boolean,
): WorkerRecord {
  const worker = workerOf(draft, idOrName);
  const { name, subdomain, ...settings } = body;
  // A rename moves hosts, namespaces and storage at Cloudflare; the stack replaces the Worker instead.
  if (name !== undefined && name !== worker.name) {
    throw new ApiError(501, 10501, "The rehearsal's emulation does not model renaming a Worker");
  }
  const former = replace ? { enabled: false, previews_enabled: false } : worker.subdomain;
  worker.subdomain = {
    enabled: subdomain?.enabled ?? former.enabled,
    previews_enabled: subdomain?.previews_enabled ?? former.previews_enabled,
  };
  worker.settings = replace ? settings : { ...worker.settings, ...settings };
  worker.updated_on = timestamp(context);
  return worker;
}

/**
 * Deleting a Worker deletes its Durable Object namespaces and their data; a container application that is tied to
 * one stays behind as an orphan: https://github.com/cloudflare/workers-sdk/issues/12483
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
