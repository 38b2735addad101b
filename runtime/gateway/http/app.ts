import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as z from "zod";
import { GATEWAY_ROUTES, type GatewayStatus } from "../../contract/control.ts";
import { deliverySchema, type Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { VERSION } from "../../contract/names.ts";
import { problem, problemResponse } from "../../contract/problem.ts";
import { bearerToken, sameToken } from "../../contract/token.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import { storeFailure } from "../../process/database.ts";
import { RetryableError } from "../failure.ts";

/** A platform's event is 1 MiB at most; its envelope and another way of escaping come on top. */
const LONGEST_BODY = 2 * 1024 * 1024;

/** What the gateway's HTTP side works with. */
export interface GatewayAppOptions {
  /** Undefined: every route that needs it refuses everyone. */
  controlToken: string | undefined;
  deliveries: Deliveries;
  status(): GatewayStatus;
  /** `/v1` and `/hooks`, which check the gateway's own token. */
  completions: Hono;
  hooks: Hono;
  log: Log;
}

/** The gateway's HTTP side. It listens only once everything behind it is up, so to answer is to be ready. */
export function gatewayApp(options: GatewayAppOptions): Hono {
  const { controlToken, deliveries, status, completions, hooks, log } = options;
  const app = new Hono();
  const { live, ready, deliveries: deliveriesPath, status: statusPath } = GATEWAY_ROUTES;

  app.get(live, (context) => context.json({ ok: true }));
  // The process id lets the supervisor tell its own gateway from another one on the same port.
  app.get(ready, (context) => context.json({ ready: true, version: VERSION, pid: process.pid }));

  app.route("/v1", completions);
  app.route("/hooks", hooks);

  app.use("*", async (context, next) => {
    const given = bearerToken(context.req.header("authorization"));
    if (!sameToken(given, controlToken ?? "")) return problemResponse(problem("control_refused"));
    return next();
  });

  app.get(statusPath, (context) => context.json(status()));

  app.post(
    deliveriesPath,
    bodyLimit({
      maxSize: LONGEST_BODY,
      onError: () => problemResponse(problem("body_too_large", "The delivery is above 2 MiB.")),
    }),
    async (context) => {
      const mediaType = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
      if (mediaType !== "application/json") return problemResponse(problem("media_type_unsupported"));
      return context.json(await deliveries.deliver(readDelivery(await context.req.text())));
    },
  );

  app.notFound(() => problemResponse(problem("not_found")));
  app.onError((error) => answerError(error, log));
  return app;
}

function readDelivery(text: string): Delivery {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new StewardError("body_invalid", "The body is not JSON.", { cause: error });
  }
  const parsed = deliverySchema.safeParse(body);
  if (!parsed.success) throw new StewardError("delivery_invalid", z.prettifyError(parsed.error));
  return parsed.data;
}

function answerError(error: Error, log: Log): Response {
  if (error instanceof RetryableError) {
    log.warn("delivery postponed", {
      code: error.code,
      detail: error.message,
      retryAfterMs: error.retryAfterMs,
    });
    const { retryAfterMs } = error;
    const headers: Record<string, string> = {};
    if (retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(retryAfterMs / 1_000));
    return problemResponse(problem(error.code, error.message, error.status), headers);
  }
  if (error instanceof StewardError) return problemResponse(problem(error.code, error.message));
  // The edge keeps the event and tries again: nothing is lost while the disk is full.
  const store = storeFailure(error);
  if (store !== undefined) {
    log.error("the store failed", { code: store.code, detail: store.message });
    return problemResponse(problem(store.code, store.message, 503), { "retry-after": "10" });
  }
  log.error("request failed", { error: error.stack ?? error.message });
  return problemResponse(problem("internal", undefined, 503));
}
