import { Hono } from "hono";
import type { AccountContext } from "./account/context.ts";
import { requireAccount, requireToken, type Tokens } from "./auth.ts";
import { ApiError, fail, ok } from "./envelope.ts";
import { injectFaults } from "./faults.ts";
import { accessApplicationRoutes, accessPolicyRoutes } from "./routes/access.ts";
import { bucketRoutes } from "./routes/buckets.ts";
import { containerRoutes } from "./routes/containers.ts";
import { domainRoutes } from "./routes/domains.ts";
import { objectRoutes } from "./routes/objects.ts";
import { registryRoutes } from "./routes/registries.ts";
import { namespaceRoutes, scriptRoutes } from "./routes/scripts.ts";
import { versionRoutes } from "./routes/versions.ts";
import { workerRoutes } from "./routes/workers.ts";

/** Returns the emulated `/client/v4`: https://developers.cloudflare.com/api/ */
export function cloudflareApi(account: AccountContext, tokens: Tokens): Hono {
  const { store, log, faults } = account;
  const app = new Hono().basePath("/client/v4");
  app.use(requireToken(tokens));
  app.use(injectFaults(faults));
  app.use("/accounts/:account/*", requireAccount(store.state.accountId));

  // https://developers.cloudflare.com/fundamentals/api/get-started/create-token/#test-your-token
  for (const path of ["/user/tokens/verify", "/accounts/:account/tokens/verify"]) {
    app.get(path, (context) => ok(context, { id: "rehearsal", status: "active" }));
  }
  const root = "/accounts/:account";
  app.get(`${root}/workers/subdomain`, (context) => ok(context, { subdomain: store.state.subdomain }));
  app.route(`${root}/workers/workers`, workerRoutes(account));
  app.route(`${root}/workers/workers`, versionRoutes(account));
  app.route(`${root}/workers/scripts`, scriptRoutes(account));
  app.route(`${root}/workers/durable_objects/namespaces`, namespaceRoutes(account));
  app.route(`${root}/workers/domains`, domainRoutes(account));
  app.route(`${root}/r2/buckets`, bucketRoutes(account));
  app.route(`${root}/r2/buckets`, objectRoutes(account));
  app.route(`${root}/access/apps`, accessApplicationRoutes(account));
  app.route(`${root}/access/policies`, accessPolicyRoutes(account));
  app.route(`${root}/containers/applications`, containerRoutes(account));
  app.route(`${root}/containers/registries`, registryRoutes(account));

  app.notFound((context) => {
    const { method, path } = context.req;
    log("the emulated API does not have this call", { method, path });
    const message = `Could not route to ${path}, perhaps your object identifier is invalid?`;
    return fail(context, new ApiError(404, 7003, message));
  });
  app.onError((error, context) => {
    if (error instanceof ApiError) return fail(context, error);
    log("the emulated API failed", { path: context.req.path, error: error.stack ?? error.message });
    return fail(context, new ApiError(500, 10013, "An unknown error has occurred."));
  });
  return app;
}
