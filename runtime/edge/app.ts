import type { Log } from "../contract/log.ts";
import { Hono, type Context } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { EdgeSettings } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { ROUTES } from "../contract/routes.ts";
import { refuseCrossSite, requireIdentity, requirePublicOrIdentity, type AccessVariables } from "./access.ts";
import { slackEvents } from "./admission/slack-route.ts";
import { debugContainerConfig, debugProcesses, listProcesses } from "./debug-routes.ts";
import { home, readiness } from "./home-route.ts";
import type { Identify } from "./identity.ts";
import { adminPage } from "./pages/admin.ts";
import { contentSecurityPolicy } from "./pages/layout.ts";
import type { Clock, Ledger, Sandbox } from "./ports.ts";
import { sendError, sendProblem } from "./problems.ts";

/** What the edge works with. */
export interface EdgeOptions {
  settings: EdgeSettings;
  ledger: Ledger;
  sandbox: Sandbox;
  identify: Identify;
  clock: Clock;
  log: Log;
}

/** The edge: every public route, on web-standard APIs only, for the Worker and for Node. */
export function createEdge(options: EdgeOptions): Hono<AccessVariables> {
  const { settings, ledger, sandbox, identify, clock, log } = options;
  const app = new Hono<AccessVariables>();
  const identified = requireIdentity(identify);

  app.use(secureHeaders({ referrerPolicy: "same-origin", xFrameOptions: "DENY" }));

  app.get(ROUTES.live.path, (context) => context.text("ok"));
  app.get(ROUTES.ready.path, readiness(sandbox));
  app.get(ROUTES.home.path, home(sandbox));

  app.use(ROUTES.slackEvents.path, requirePublicOrIdentity(settings.publicWebhooks, identify));
  app.post(
    ROUTES.slackEvents.path,
    slackEvents({ signingSecret: settings.slackSigningSecret, ledger, sandbox, clock }),
  );

  app.use("/_admin/*", identified);
  app.get(ROUTES.admin.path, async (context) => {
    const [status, counts, { processes }] = await Promise.all([
      sandbox.status(),
      ledger.counts(),
      listProcesses(sandbox, false),
    ]);
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(adminPage({ identity: context.get("identity"), status, counts, processes }));
  });

  app.use("/debug/*", refuseCrossSite(), identified);
  app.get(ROUTES.processes.path, debugProcesses(sandbox));
  app.get(ROUTES.containerConfig.path, debugContainerConfig(sandbox));

  app.notFound(() => sendProblem("not_found"));
  app.onError((error, context) => answerError(error, context, log));
  return app;
}

function answerError(error: Error, context: Context, log: Log): Response {
  if (error instanceof StewardError) return sendError(error);
  log.error("request failed", { path: context.req.path, error: error.message });
  return sendProblem("internal");
}
