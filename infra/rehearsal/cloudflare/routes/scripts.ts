import { Hono } from "hono";
import * as z from "zod";
import { timestamp, type AccountContext } from "../account/context.ts";
import { versionOf, workerOf } from "../account/lookup.ts";
import type { AccountState, DeploymentRecord, WorkerRecord } from "../account/state.ts";
import { deploy } from "../deploy.ts";
import { ApiError, ok, page, readBody } from "../envelope.ts";
import { presentScriptVersion } from "../version-view.ts";

const deploymentBody = z.object({
  strategy: z.literal("percentage"),
  versions: z.array(z.object({ version_id: z.string(), percentage: z.number().min(0.01).max(100) })).min(1),
  annotations: z.record(z.string(), z.unknown()).default({}),
});

// https://developers.cloudflare.com/workers/configuration/cron-triggers/ : five fields.
const schedulesBody = z.array(z.object({ cron: z.string().regex(/^\S+(\s+\S+){4}$/, "five cron fields") }));

const subdomainBody = z.object({ enabled: z.boolean(), previews_enabled: z.boolean().optional() });

/** https://developers.cloudflare.com/api/resources/workers/subresources/scripts/ */
export function scriptRoutes(context: AccountContext): Hono {
  const { store } = context;
  const routes = new Hono();

  routes.post("/:script/deployments", async (request) => {
    const body = await readBody(request, deploymentBody);
    const deployment = await store.change((draft) => {
      return deploy(context, draft, request.req.param("script"), body.versions, body.annotations);
    });
    return ok(request, present(deployment));
  });

  routes.get("/:script/deployments", (request) => {
    const worker = workerOf(store.state, request.req.param("script"));
    return ok(request, { deployments: deploymentsOf(store.state, worker).map(present) });
  });

  routes.get("/:script/deployments/:deployment", (request) => {
    const worker = workerOf(store.state, request.req.param("script"));
    const id = request.req.param("deployment");
    const found = deploymentsOf(store.state, worker).find((deployment) => deployment.id === id);
    if (found === undefined) throw new ApiError(404, 10213, `Deployment ${id} does not exist.`);
    return ok(request, present(found));
  });

  routes.get("/:script/versions/:version", (request) => {
    const worker = workerOf(store.state, request.req.param("script"));
    const version = versionOf(store.state, worker, request.req.param("version"));
    return ok(request, presentScriptVersion(store.state, version));
  });

  routes.put("/:script/schedules", async (request) => {
    const body = await readBody(request, schedulesBody);
    const now = timestamp(context);
    const worker = await store.change((draft) => {
      const changed = workerOf(draft, request.req.param("script"));
      changed.schedules = body.map(({ cron }) => ({ cron, created_on: now, modified_on: now }));
      return changed;
    });
    return ok(request, { schedules: worker.schedules });
  });

  routes.get("/:script/schedules", (request) => {
    return ok(request, { schedules: workerOf(store.state, request.req.param("script")).schedules });
  });

  routes.post("/:script/subdomain", async (request) => {
    const body = await readBody(request, subdomainBody);
    const worker = await store.change((draft) => {
      const changed = workerOf(draft, request.req.param("script"));
      changed.subdomain = { enabled: body.enabled, previews_enabled: body.previews_enabled ?? body.enabled };
      return changed;
    });
    return ok(request, worker.subdomain);
  });

  routes.delete("/:script/subdomain", async (request) => {
    const worker = await store.change((draft) => {
      const changed = workerOf(draft, request.req.param("script"));
      changed.subdomain = { enabled: false, previews_enabled: false };
      return changed;
    });
    return ok(request, worker.subdomain);
  });

  routes.get("/:script/subdomain", (request) => {
    return ok(request, workerOf(store.state, request.req.param("script")).subdomain);
  });

  return routes;
}

/** https://developers.cloudflare.com/api/resources/durable_objects/subresources/namespaces/ */
export function namespaceRoutes(context: AccountContext): Hono {
  const routes = new Hono();
  routes.get("/", (request) => {
    const shown = context.store.state.namespaces.map((namespace) => ({
      id: namespace.id,
      name: `${namespace.script}_${namespace.class}`,
      script: namespace.script,
      class: namespace.class,
      use_sqlite: namespace.use_sqlite,
    }));
    return page(request, shown);
  });
  return routes;
}

/** Newest first: the first one is what serves. */
function deploymentsOf(state: AccountState, worker: WorkerRecord): DeploymentRecord[] {
  return state.deployments.filter(({ workerId }) => workerId === worker.id).toReversed();
}

function present(deployment: DeploymentRecord): Record<string, unknown> {
  return {
    id: deployment.id,
    created_on: deployment.created_on,
    source: "api",
    strategy: "percentage",
    versions: deployment.versions,
    annotations: deployment.annotations,
  };
}
