import { parseJson } from "../../shared/json.ts";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as z from "zod/mini";
import {
  type ChatFileRequest,
  GATEWAY_ROUTES,
  type GatewayStatus,
  type UsageReport,
} from "../../contract/control.ts";
import {
  chatDeliveriesSchema,
  type Delivery,
  type DeliveryEnd,
  deliverySchema,
  type LearnedName,
  type Platform,
  platformSchema,
  type WantedName,
} from "../../contract/delivery.ts";
import "../../contract/english.ts";
import { StewardError } from "../../contract/errors.ts";
import { type ReplayRecord, replayRequestSchema } from "../../contract/replay.ts";
import type { Log } from "../../shared/log.ts";
import { type Problem, problem, problemResponse } from "../../contract/problem.ts";
import { bearerToken, isSameToken } from "../../shared/token.ts";
import { withTimeout } from "../../shared/timeout.ts";
import type { Channels } from "../channels/registry.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { storeFailure } from "../../process/database.ts";
import { RetryableError } from "../failure.ts";
import type { Components } from "../components.ts";
import { testModel as askModel } from "../models/test-question.ts";
import { completions, type CompletionsOptions } from "./completions.ts";
import { hooks, type HooksOptions } from "./hooks.ts";

/** Maximum request body in bytes. A platform event has at most 1 MiB, plus envelope and JSON escaping. */
const LONGEST_BODY = 2 * 1024 * 1024;

const channelTestSchema = z.strictObject({ platform: platformSchema });
const testSchema = z.strictObject({ model: z.string() });
const chatFileSchema: z.ZodMiniType<ChatFileRequest> = z.strictObject({
  ticket: z.string(),
  item: z.string(),
});

/**
 * Timeout in milliseconds for looking up a name at a platform. It is short, because the edge's request stays open
 * during the lookup.
 */
const NAME_MS = 5_000;

export interface GatewayAppOptions extends CompletionsOptions, HooksOptions {
  parts(): Components;
  /** Token that most routes require. If `undefined`, these routes refuse every request. */
  controlToken: string | undefined;
  /** Token that is accepted only for reading status and usage, and for testing a model. */
  statusToken: string;
  inbox: Inbox;
  /** Returns the time at which an event's answer or notice began to appear, in milliseconds since the epoch. */
  firstWordAt(event: Pick<Delivery, "platform" | "id">): number | undefined;
  /**
   * Returns a file for the web chat. If the file is an image, `picture` is its media type.
   *
   * @throws StewardError if the requesting browser has no access to the file, or the file is no longer available.
   */
  chatFile(request: ChatFileRequest): { data: Uint8Array; picture?: string };
  /** Reads and redacts past events. Sends nothing. */
  replayRecord(deliveries: readonly unknown[]): Promise<ReplayRecord>;
  /** Applies a changed config file. Never rejects. */
  configTaken(): Promise<void>;
  status(): GatewayStatus;
  usage(): UsageReport;
}

/** Creates the gateway's HTTP API, without the health routes. */
export function gatewayApp(options: GatewayAppOptions): Hono {
  const { controlToken, statusToken, inbox, status, usage, log } = options;
  const app = new Hono();
  const {
    deliveries: deliveriesPath,
    chat: chatPath,
    chatFile: chatFilePath,
    status: statusPath,
    usage: usagePath,
    replay: replayPath,
    testModel,
    testChannel,
  } = GATEWAY_ROUTES;
  const operates = new Set<string>([statusPath, usagePath, testModel]);

  app.route("/v1", completions(options));
  app.route("/hooks", hooks(options));

  app.use("*", async (context, next) => {
    const given = bearerToken(context.req.header("authorization"));
    if (operates.has(context.req.path) && isSameToken(given, statusToken)) return next();
    if (!isSameToken(given, controlToken ?? "")) return problemResponse(problem("control_refused"));
    return next();
  });

  app.get(statusPath, (context) => context.json(status()));
  app.get(usagePath, (context) => context.json(usage()));

  app.use(
    bodyLimit({
      maxSize: LONGEST_BODY,
      onError: () => problemResponse(problem("body_too_large", "The body is larger than 2 MiB.")),
    }),
    async (context, next) => {
      if (context.req.method !== "POST") return next();
      const mediaType = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
      return mediaType === "application/json" ? next() : problemResponse(problem("media_type_unsupported"));
    },
  );

  app.post(testModel, async (context) => {
    const { model } = readBody(testSchema, await context.req.text(), "body_invalid");
    await options.configTaken();
    const { models } = options.parts();
    if (!models.health().some(({ id }) => id === model)) throw new StewardError("usage_invalid");
    return context.json(await askModel(models, model, options.clock));
  });

  app.post(testChannel, async (context) => {
    const { platform } = readBody(channelTestSchema, await context.req.text(), "body_invalid");
    await options.configTaken();
    const health = await options.parts().channels.test(platform);
    if (health === undefined) throw new StewardError("usage_invalid");
    return context.json(health);
  });

  app.post(replayPath, async (context) => {
    const { deliveries } = readBody(replayRequestSchema, await context.req.text(), "body_invalid");
    return context.json(await options.replayRecord(deliveries));
  });

  app.post(chatFilePath, async (context) => {
    const { data, picture } = options.chatFile(
      readBody(chatFileSchema, await context.req.text(), "body_invalid"),
    );
    return new Response(new Uint8Array(data), {
      headers: { "content-type": picture ?? "application/octet-stream" },
    });
  });

  app.post(deliveriesPath, async (context) => {
    const delivery = readBody(deliverySchema, await context.req.text(), "delivery_invalid");
    // Apply config changes first, so that a redelivered event is processed with them.
    await options.configTaken();
    return context.json(await inbox.deliver(delivery));
  });

  app.post(chatPath, async (context) => {
    const body = readBody(chatDeliveriesSchema, await context.req.text(), "delivery_invalid");
    await options.configTaken();
    const read = body.deliveries.map((delivery) => deliverySchema.safeParse(delivery));
    const valid = read.flatMap(({ data }) => data ?? []);
    const ends = inbox.take(valid, body.after);
    const all = read.map(async ({ success, error }) => {
      if (!success) throw new StewardError("delivery_invalid", z.prettifyError(error));
      return ends.shift();
    });
    const { channels } = options.parts();
    const names = body.names === undefined ? undefined : learnNames(body.names, channels, log);
    return answerEach(all, log, { names, more: (index) => moreOf(read[index]?.data) });
  });
  // Parse the event again to find its admission. This stores and sends nothing.
  const moreOf = (delivery: Delivery | undefined): Pick<DeliveryEnd, "firstWordMs" | "admitted"> => {
    if (delivery === undefined) return {};
    const heardAt = options.firstWordAt(delivery);
    const inbound = options.parts().channels.get(delivery.platform)?.receive(delivery.payload);
    const admission = inbound !== undefined && "admission" in inbound ? inbound.admission : undefined;
    return {
      ...(heardAt !== undefined && { firstWordMs: Math.max(0, options.clock() - heardAt) }),
      ...(admission !== undefined && { admitted: admission.by }),
    };
  };

  app.notFound(() => problemResponse(problem("not_found")));
  app.onError((error) => answerError(error, log));
  return app;
}

function readBody<T extends z.ZodMiniType>(
  schema: T,
  text: string,
  code: "body_invalid" | "delivery_invalid",
): z.output<T> {
  const body = parseJson(text);
  if (body === undefined) throw new StewardError("body_invalid", "The body is not JSON.");
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new StewardError(code, z.prettifyError(parsed.error));
  return parsed.data;
}

function answerError(error: Error, log: Log): Response {
  const { status, retryAfter, body } = refusal(error, log);
  return problemResponse({ ...body, status }, retryAfter === undefined ? {} : { "retry-after": retryAfter });
}

/** Converts an error to the result that the edge receives. Logs the error unless the sender caused it. */
function refusal(error: Error, log: Log): Omit<DeliveryEnd, "index"> & { body: Problem } {
  if (error instanceof RetryableError) {
    const { code, message, retryAfterMs } = error;
    log.warn("delivery postponed", { code, detail: message, retryAfterMs });
    const body = problem(code, message, error.status);
    if (retryAfterMs === undefined) return { status: body.status, body };
    return { status: body.status, retryAfter: String(Math.ceil(retryAfterMs / 1_000)), body };
  }
  if (error instanceof StewardError) {
    const body = problem(error.code, error.message);
    return { status: body.status, body };
  }
  // The edge retries, so nothing is lost while the disk is full.
  const store = storeFailure(error);
  if (store !== undefined) {
    log.error("the store failed", { code: store.code, detail: store.message });
    return { status: 503, retryAfter: "10", body: problem(store.code, store.message, 503) };
  }
  log.error("request failed", { error: error.stack ?? error.message });
  return { status: 503, body: problem("internal", undefined, 503) };
}

/** Asks the platforms for names, and waits at most {@link NAME_MS} milliseconds for each name. Never rejects. */
async function learnNames(
  wanted: readonly WantedName[],
  channels: Channels,
  log: Log,
): Promise<LearnedName[]> {
  return Promise.all(
    wanted.map(async ({ key, kind }) => {
      const [platform = "", ...id] = key.split(":");
      const channel = channels.get(platform as Platform);
      const asked = channel?.nameOf?.(kind, id.join(":")) ?? Promise.resolve(undefined);
      const name = await withTimeout(NAME_MS, asked, () => new Error("timeout")).catch((error: unknown) => {
        log.info("a platform did not return a name", { platform, kind, error: String(error) });
        return undefined;
      });
      return { key, name };
    }),
  );
}

interface Additions {
  names: Promise<LearnedName[]> | undefined;
  more(index: number): Pick<DeliveryEnd, "firstWordMs" | "admitted">;
}

/**
 * Streams a {@link DeliveryEnd} line for each delivery, and a line with the names that the edge requested, if any.
 */
function answerEach(ends: readonly Promise<unknown>[], log: Log, { names, more }: Additions): Response {
  const encoder = new TextEncoder();
  let open = true;
  const lines = new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (line: object): void => {
        if (open) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      const written = ends.map(async (end, index) => {
        const line: Omit<DeliveryEnd, "index"> = await end.then(
          (body) => ({ status: 200, body, ...more(index) }),
          (error: Error) => refusal(error, log),
        );
        write({ index, ...line });
      });
      await Promise.all([...written, names?.then((learned) => write({ names: learned }))]);
      if (open) controller.close();
    },
    // The edge has disconnected and will retry.
    cancel: () => void (open = false),
  });
  return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
}
