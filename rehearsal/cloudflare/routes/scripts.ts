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

// https://developers.cloudflare.com/workers/configuration/cron-triggers/
const schedulesBody = z.array(z.object({ cron: z.string().regex(/^\S+(\s+\S+){4}$/, "five cron fields") }));

const subdomainBody = z.object({ enabled: z.boolean(), previews_enabled: z.boolean().optional() });

/** https://developers.cloudflare.com/api/resources/workers/subresources/scripts/ */
export function scriptRoutes(account: AccountContext): Hono {
  const { store } = account;
  const routes = new Hono();

  // Lists Workers in the form of the official SDK's ScriptListResponse. Omits Workers without a version, because
  // Cloudflare does not document whether such Workers are listed.
  routes.get("/", (context) => {
    const { workers, versions } = store.state;
    const uploaded = workers.filter(({ id }) => versions.some(({ workerId }) => workerId === id));
    const listed = uploaded.map(({ id, name, created_on, updated_on, migrationTag }) => {
      return { id: name, tag: id, created_on, modified_on: updated_on, migration_tag: migrationTag };
    });
    return ok(context, listed);
  });

  routes.post("/:script/deployments", async (context) => {
    const body = await readBody(context, deploymentBody);
    const deployment = await store.change((draft) => {
      return deploy(account, draft, context.req.param("script"), body.versions, body.annotations);
    });
    return ok(context, present(deployment));
  });

  routes.get("/:script/deployments", (context) => {
    const worker = workerOf(store.state, context.req.param("script"));
    return ok(context, { deployments: deploymentsOf(store.state, worker).map(present) });
  });

  routes.get("/:script/deployments/:deployment", (context) => {
    const worker = workerOf(store.state, context.req.param("script"));
    const id = context.req.param("deployment");
    const found = deploymentsOf(store.state, worker).find((deployment) => deployment.id === id);
    if (found === undefined) throw new ApiError(404, 10213, `Deployment ${id} does not exist.`);
    return ok(context, present(found));
  });

  routes.get("/:script/versions", (context) => {
    const worker = workerOf(store.state, context.req.param("script"));
    const own = store.state.versions.filter(({ workerId }) => workerId === worker.id).toReversed();
    return ok(context, { items: own.map((version) => presentScriptVersion(store.state, version)) });
  });

  routes.get("/:script/versions/:version", (context) => {
    const worker = workerOf(store.state, context.req.param("script"));
    const version = versionOf(store.state, worker, context.req.param("version"));
    return ok(context, presentScriptVersion(store.state, version));
  });

  routes.put("/:script/schedules", async (context) => {
    const body = await readBody(context, schedulesBody);
    const now = timestamp(account);
    const worker = await store.change((draft) => {
      const changed = workerOf(draft, context.req.param("script"));
      changed.schedules = body.map(({ cron }) => ({ cron, created_on: now, modified_on: now }));
      return changed;
    });
    return ok(context, { schedules: worker.schedules });
  });

  routes.get("/:script/schedules", (context) => {
    return ok(context, { schedules: workerOf(store.state, context.req.param("script")).schedules });
  });

  routes.post("/:script/subdomain", async (context) => {
    const body = await readBody(context, subdomainBody);
    const worker = await store.change((draft) => {
      const changed = workerOf(draft, context.req.param("script"));
      changed.subdomain = { enabled: body.enabled, previews_enabled: body.previews_enabled ?? body.enabled };
      return changed;
    });
    return ok(context, worker.subdomain);
  });

  routes.delete("/:script/subdomain", async (context) => {
    const worker = await store.change((draft) => {
      const changed = workerOf(draft, context.req.param("script"));
      changed.subdomain = { enabled: false, previews_enabled: false };
      return changed;
    });
    return ok(context, worker.subdomain);
  });

  routes.get("/:script/subdomain", (context) => {
    return ok(context, workerOf(store.state, context.req.param("script")).subdomain);
  });

  return routes;
}

/** https://developers.cloudflare.com/api/resources/durable_objects/subresources/namespaces/ */
export function namespaceRoutes(account: AccountContext): Hono {
  const routes = new Hono();
  routes.get("/", (context) => {
    const shown = account.store.state.namespaces.map((namespace) => ({
      id: namespace.id,
      name: `${namespace.script}_${namespace.class}`,
      script: namespace.script,
      class: namespace.class,
      use_sqlite: namespace.use_sqlite,
    }));
    return page(context, shown);
  });
  return routes;
}

/** Newest first; the first deployment serves. */
function deploymentsOf(state: AccountState, worker: WorkerRecord): DeploymentRecord[] {
  return state.deployments.filter(({ workerId }) => workerId === worker.id).toReversed();
}

function present(deployment: DeploymentRecord): Record<string, unknown> {
  return {
    id: deployment.id,
    created_on: deployment.created_on,
    // For changes made with a token, Cloudflare returns the e-mail address of the token's creator.
    author_email: "operator@example.com",
    source: "api",
    strategy: "percentage",
    versions: deployment.versions,
    annotations: deployment.annotations,
  };
}
