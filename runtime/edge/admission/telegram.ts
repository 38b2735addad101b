import { sha256Hex } from "../../contract/digest.ts";
import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { isSameToken } from "../../shared/token.ts";
import { once } from "../../shared/once.ts";
import type { Clock } from "../ports.ts";
import { parseJsonObject, readJsonText } from "./body.ts";
import type { WebhookOptions } from "./webhook.ts";

/** Update kinds that carry a message: https://core.telegram.org/bots/api#update */
const MESSAGE_KINDS = ["message", "edited_message", "channel_post", "edited_channel_post"] as const;

const message = once(() =>
  z.looseObject({
    chat: z.looseObject({ id: z.number() }),
    message_thread_id: z.optional(z.number()),
    is_topic_message: z.optional(z.boolean()),
  }),
);

/** The message with the pressed button: https://core.telegram.org/bots/api#callbackquery */
const pressed = once(() =>
  z.looseObject({ message: z.looseObject({ chat: z.looseObject({ id: z.number() }) }) }),
);

const update = once(() => z.looseObject({ update_id: z.int() }));

const SECRET_HEADER = "x-telegram-bot-api-secret-token";

interface TelegramUpdatesOptions {
  secret: string | undefined;
  clock: Clock;
}

/**
 * Reads Telegram's updates. They are unsigned; a header contains the secret given to `setWebhook`:
 * https://core.telegram.org/bots/api#setwebhook
 */
export function telegramUpdates({ secret, clock }: TelegramUpdatesOptions): WebhookOptions["read"] {
  return async function readTelegramRequest(request) {
    const text = await readJsonText(request);
    if (secret === undefined) {
      throw new StewardError("channel_not_configured", "TELEGRAM_WEBHOOK_SECRET is not set.");
    }
    if (!(await sameSecret(request.headers.get(SECRET_HEADER), secret))) {
      throw new StewardError("signature_invalid", "The secret token is wrong.");
    }
    const delivery = telegramDelivery(parseJsonObject(text), clock());
    if (delivery === undefined) throw new StewardError("body_invalid", "The body is not an update.");
    return { kind: "event", delivery };
  };
}

// Compare digests, which have equal lengths, so that timing does not reveal the secret's length.
async function sameSecret(given: string | null, expected: string): Promise<boolean> {
  const [a, b] = await Promise.all([sha256Hex(given ?? ""), sha256Hex(expected)]);
  return isSameToken(a, b);
}

/**
 * Returns an update as a delivery; `undefined` if `body` is not an update. Each topic of a group is a separate
 * conversation.
 */
export function telegramDelivery(body: unknown, receivedAt: number): Delivery | undefined {
  const parsed = update().safeParse(body);
  if (!parsed.success) return undefined;
  const press = pressed().safeParse(parsed.data["callback_query"]).data?.message.chat.id;
  const carried = MESSAGE_KINDS.map((kind) => parsed.data[kind]).find((value) => value !== undefined);
  const { data } = message().safeParse(carried);
  const thread = data?.is_topic_message === true ? data.message_thread_id : undefined;
  const place = data === undefined ? ["none"] : [data.chat.id, ...(thread === undefined ? [] : [thread])];
  return {
    id: String(parsed.data.update_id),
    platform: "telegram",
    // A button press must not wait for the answer in progress, because it may stop that answer.
    conversation: press === undefined ? place.join(":") : `${press}:press`,
    receivedAt,
    payload: parsed.data,
  };
}
