import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";

/** The kinds of updates that carry a message: https://core.telegram.org/bots/api#update */
const MESSAGE_KINDS = ["message", "edited_message", "channel_post", "edited_channel_post"] as const;

const message = z.looseObject({
  chat: z.looseObject({ id: z.number() }),
  message_thread_id: z.optional(z.number()),
  is_topic_message: z.optional(z.boolean()),
});

const update = z.looseObject({ update_id: z.int() });

/**
 * The delivery of an update, `undefined` where it is none. Its id is the `update_id`, which Telegram
 * repeats with the update. A topic of a group is a conversation of its own.
 */
export function telegramDelivery(body: unknown, receivedAt: number): Delivery | undefined {
  const parsed = update.safeParse(body);
  if (!parsed.success) return undefined;
  const carried = MESSAGE_KINDS.map((kind) => parsed.data[kind]).find((value) => value !== undefined);
  const { data } = message.safeParse(carried);
  const thread = data?.is_topic_message === true ? data.message_thread_id : undefined;
  const place = data === undefined ? ["none"] : [data.chat.id, ...(thread === undefined ? [] : [thread])];
  return {
    id: String(parsed.data.update_id),
    platform: "telegram",
    conversation: place.join(":"),
    receivedAt,
    payload: parsed.data,
  };
}
