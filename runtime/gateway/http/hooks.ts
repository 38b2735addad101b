import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as z from "zod/mini";
import { chatAddress, textUpTo } from "../../contract/config/values.ts";
import { StewardError } from "../../contract/errors.ts";
import { problem, problemResponse } from "../../contract/problem.ts";
import { sessionOf } from "../channels/channel.ts";
import type { InTurn } from "../inbox/chat-queues.ts";
import type { Replies } from "../inbox/replies.ts";
import { RefusedError } from "../failure.ts";
import type { Components } from "../components.ts";
import { requireGatewayToken, type GatewayTokenOptions } from "./gateway-token.ts";

const LONGEST_BODY = 256 * 1024;

const hookSchema = z.strictObject({
  message: textUpTo(100_000),
  /** Chat to post the answer in. If absent, the response contains the answer. */
  to: z.optional(chatAddress),
  /** Identifies the conversation if `to` is absent. */
  name: z._default(z.string().check(z.regex(/^[\w .-]{1,64}$/)), "hook"),
});

type Hook = z.infer<typeof hookSchema>;

/** `delivered` is true if the answer was posted to `to`. */
interface HookAnswer {
  text: string;
  delivered: boolean;
}

export interface HooksOptions extends GatewayTokenOptions {
  parts(): Pick<Components, "config" | "channels" | "agent">;
  replies: Pick<Replies, "say">;
  inTurn: InTurn;
  signal: AbortSignal;
}

/**
 * Creates `/hooks/agent` and `/hooks/wake`, through which other programs send questions to the agent. Both return the
 * answer and post it to the chat in the request's `to` field. Without `to`, `/hooks/wake` posts the answer to the
 * heartbeat's chat, and `/hooks/agent` does not post the answer.
 *
 * If a request repeats the Idempotency-Key of an answered request in the same conversation, the stored answer is
 * returned. The repeated request is not sent to the model, and parts of the answer that were already posted are not
 * posted again.
 */
export function hooks(options: HooksOptions): Hono {
  const { inTurn } = options;
  const app = new Hono();
  const ask = async (hook: Hook, key: string | undefined): Promise<Response> => {
    const id = `hook-${key ?? crypto.randomUUID()}`;
    const work = (): Promise<HookAnswer> => answer(options, id, hook);
    return Response.json({ id, ...(await inTurn(sessionOfHook(hook), work)) });
  };

  app.use(
    "*",
    requireGatewayToken(options, () => problemResponse(problem("gateway_token_refused"))),
  );
  app.use(
    "*",
    bodyLimit({
      maxSize: LONGEST_BODY,
      onError: () => problemResponse(problem("body_too_large", "The body is larger than 256 KiB.")),
    }),
  );
  app.post("/agent", async (context) =>
    ask(await readHook(context.req.raw), context.req.header("idempotency-key")),
  );
  app.post("/wake", async (context) => {
    const hook = await readHook(context.req.raw);
    const to = hook.to ?? options.parts().config.agent.heartbeat?.to;
    if (to === undefined) {
      throw new StewardError("body_invalid", "Set `to` in the request, or agent.heartbeat.to in the config.");
    }
    return ask({ ...hook, to }, context.req.header("idempotency-key"));
  });
  return app;
}

function sessionOfHook({ to, name }: Hook): string {
  return to === undefined ? sessionOf("hook", { chat: name }) : sessionOf(to.platform, to);
}

async function answer(
  { parts, replies, signal }: Pick<HooksOptions, "parts" | "replies" | "signal">,
  id: string,
  hook: Hook,
): Promise<HookAnswer> {
  const { agent, channels } = parts();
  const { to, name, message } = hook;
  const channel = to && channels.get(to.platform);
  if (to !== undefined && channel === undefined) {
    throw new StewardError(
      "channel_not_configured",
      `The config has no ${to.platform} channel that this gateway serves.`,
    );
  }
  const target =
    to === undefined ? { chat: name } : { chat: to.chat, ...(to.thread && { thread: to.thread }) };
  const { text, failure } = await agent.answer(
    {
      session: sessionOfHook(hook),
      platform: to?.platform ?? "hook",
      target,
      direct: true,
      messages: [
        {
          delivery: id,
          sender: { id: `hook:${name}`, name },
          admission: { by: "hook", inChat: to !== undefined },
          text: message,
          images: [],
        },
      ],
    },
    { signal },
  );
  if (failure !== undefined) throw new StewardError(failure.code, failure.detail);
  if (to === undefined || channel === undefined) return { text, delivered: false };
  // Record the answer like a reply, so that a repeated call posts only the missing parts.
  const { outcome, note } = await replies.say({ platform: to.platform, id }, channel, target, text);
  if (outcome !== "answered") throw new RefusedError("reply_refused", note ?? outcome);
  return { text, delivered: true };
}

async function readHook(request: Request): Promise<Hook> {
  const mediaType = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (mediaType !== "application/json") throw new StewardError("media_type_unsupported");
  const body: unknown = await request.json().catch(() => undefined);
  const parsed = hookSchema.safeParse(body);
  if (!parsed.success) throw new StewardError("body_invalid", z.prettifyError(parsed.error));
  return parsed.data;
}
