import * as z from "zod";

/** The parts of an update that are read; Telegram adds others freely. https://core.telegram.org/bots/api#update */

const user = z.object({
  id: z.number(),
  is_bot: z.boolean().optional(),
  first_name: z.string().optional(),
  username: z.string().optional(),
});

/** https://core.telegram.org/bots/api#messageentity: places in UTF-16 units, as JavaScript counts. */
const entity = z.object({
  type: z.string(),
  offset: z.int().min(0),
  length: z.int().min(0),
  url: z.string().optional(),
  user: user.optional(),
});

const file = z.object({
  file_id: z.string().min(1),
  file_size: z.number().optional(),
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
});

const message = z.object({
  message_id: z.number(),
  message_thread_id: z.number().optional(),
  is_topic_message: z.boolean().optional(),
  from: user.optional(),
  /** Who is shown as the sender, where that is a chat: an anonymous admin or a channel. */
  sender_chat: z.object({ id: z.number(), title: z.string().optional() }).optional(),
  chat: z.object({ id: z.number(), type: z.string() }),
  reply_to_message: z
    .object({
      from: user.optional(),
      // In a topic everything that replies to nothing else replies to the topic's beginning.
      forum_topic_created: z.unknown().optional(),
    })
    .optional(),
  text: z.string().optional(),
  entities: z.array(entity).optional(),
  caption: z.string().optional(),
  caption_entities: z.array(entity).optional(),
  photo: z.array(file).optional(),
  document: file.optional(),
  animation: file.optional(),
  voice: file.optional(),
  audio: file.optional(),
  video: file.optional(),
  video_note: file.optional(),
  sticker: file
    .extend({
      emoji: z.string().optional(),
      is_animated: z.boolean().optional(),
      is_video: z.boolean().optional(),
    })
    .optional(),
  location: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
  venue: z.object({ title: z.string(), address: z.string() }).optional(),
  contact: z
    .object({ first_name: z.string(), last_name: z.string().optional(), phone_number: z.string() })
    .optional(),
  poll: z.object({ question: z.string(), options: z.array(z.object({ text: z.string() })) }).optional(),
});

/** https://core.telegram.org/bots/api#update */
export const updateSchema = z.looseObject({ update_id: z.number(), message: message.optional() });

/** A piece of a text that is more than text. */
export type TelegramEntity = z.infer<typeof entity>;
/** A message of a person, a bot or the chat itself. */
export type TelegramMessage = z.infer<typeof message>;
