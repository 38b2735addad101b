import { Hono } from "hono";
import type { AccountContext } from "./account/context.ts";
import { requireAccount, requireToken } from "./auth.ts";
import { ApiError, fail, ok } from "./envelope.ts";
import { accessApplicationRoutes, accessPolicyRoutes } from "./routes/access.ts";
import { bucketRoutes } from "./routes/buckets.ts";
import { containerRoutes } from "./routes/containers.ts";
import { namespaceRoutes, scriptRoutes } from "./routes/scripts.ts";
import { versionRoutes } from "./routes/versions.ts";
import { workerRoutes } from "./routes/workers.ts";

/** The emulated `/client/v4`: https://developers.cloudflare.com/api/ */
export function cloudflareApi(context: AccountContext, apiToken: string): Hono {
  const { store, log } = context;
  const app = new Hono().basePath("/client/v4");
  app.use(requireToken(apiToken));
  app.use("/accounts/:account/*", requireAccount(store.state.accountId));

  // https://developers.cloudflare.com/fundamentals/api/get-started/create-token/#test-your-token
  for (const path of ["/user/tokens/verify", "/accounts/:account/tokens/verify"]) {
    app.get(path, (request) => ok(request, { id: "rehearsal", status: "active" }));
  }
  const account = "/accounts/:account";
  app.get(`${account}/workers/subdomain`, (request) => ok(request, { subdomain: store.state.subdomain }));
  app.route(`${account}/workers/workers`, workerRoutes(context));
  app.route(`${account}/workers/workers`, versionRoutes(context));
  app.route(`${account}/workers/scripts`, scriptRoutes(context));
  app.route(`${account}/workers/durable_objects/namespaces`, namespaceRoutes(context));
  app.route(`${account}/r2/buckets`, bucketRoutes(context));
  app.route(`${account}/access/apps`, accessApplicationRoutes(context));
  app.route(`${account}/access/policies`, accessPolicyRoutes(context));
  app.route(`${account}/containers/applications`, containerRoutes(context));

  app.notFound((request) => {
    const { method, path } = request.req;
    log("the emulated API does not have this call", { method, path });
    const message = `Could not route to ${path}, perhaps your object identifier is invalid?`;
    return fail(request, new ApiError(404, 7003, message));
  });
  app.onError((error, request) => {
    if (error instanceof ApiError) return fail(request, error);
    log("the emulated API failed", { path: request.req.path, error: error.stack ?? error.message });
    return fail(request, new ApiError(500, 10013, "An unknown error has occurred."));
  });
  return app;
}
