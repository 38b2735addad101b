import { Hono } from "hono";
import { CONTROL_ROUTES } from "../contract/control.ts";
import type { Log } from "../contract/log.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { bearerToken, sameToken } from "../contract/token.ts";
import type { Supervisor } from "./supervisor.ts";

/** The control API. It answers while the gateway is dead: that is when it is needed. */
export function controlApp(supervisor: Supervisor, controlToken: string, log: Log): Hono {
  const app = new Hono();
  app.use("*", async (context, next) => {
    const given = bearerToken(context.req.header("authorization"));
    if (!sameToken(given, controlToken)) return problemResponse(problem("control_refused"));
    return next();
  });
  app.get(CONTROL_ROUTES.status, (context) => context.json(supervisor.status()));
  app.get(CONTROL_ROUTES.processes, (context) =>
    context.json(supervisor.processes({ logs: context.req.query("logs") === "true" })),
  );
  app.get(CONTROL_ROUTES.config, async (context) => context.json(await supervisor.config()));
  app.post(CONTROL_ROUTES.restart, (context) => {
    supervisor.restart();
    return context.json(supervisor.status(), 202);
  });
  app.notFound(() => problemResponse(problem("not_found")));
  app.onError((error) => {
    log.error("control request failed", { error: error.stack ?? error.message });
    return problemResponse(problem("internal"));
  });
  return app;
}
