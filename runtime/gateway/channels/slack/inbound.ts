import * as z from "zod";
import { unknownSenderText, type DirectMessageAccess } from "../access.ts";
import type { Inbound, ReplyTarget } from "../channel.ts";
import { readSlackText } from "./text.ts";

/**
 * The parts of an Events API body that are read; Slack adds others freely.
 * https://docs.slack.dev/apis/events-api/#event-type-structure
 */
const bodySchema = z.object({
  type: z.literal("event_callback"),
  team_id: z.string().optional(),
  api_app_id: z.string().optional(),
  authorizations: z.array(z.object({ user_id: z.string(), is_bot: z.boolean().optional() })).optional(),
  event: z.object({
    type: z.string(),
    subtype: z.string().optional(),
    channel: z.string().optional(),
    channel_type: z.string().optional(),
    user: z.string().optional(),
    bot_id: z.string().optional(),
    app_id: z.string().optional(),
    text: z.string().optional(),
    ts: z.string().optional(),
    thread_ts: z.string().optional(),
    files: z.array(z.object({ name: z.string().nullish() })).optional(),
  }),
});
type Body = z.infer<typeof bodySchema>;

/** Subtypes under which a person's own new message comes. All others are changes and notices. */
const MESSAGE_SUBTYPES = new Set([undefined, "file_share", "thread_broadcast"]);

/**
 * Reads one event: a direct message or a mention is a message, everything else is left with its
 * reason. `access` decides on direct messages alone: who may mention the bot in a channel is the
 * workspace's decision, and what was granted in a direct message grants nothing there.
 */
export function readSlackEvent(payload: Record<string, unknown>, access: DirectMessageAccess): Inbound {
  const parsed = bodySchema.safeParse(payload);
  if (!parsed.success) return ignored("not an event of a known form");
  const body = parsed.data;
  const { event } = body;
  const bot = body.authorizations?.find(({ is_bot }) => is_bot !== false)?.user_id;
  const direct = event.type === "message" && event.channel_type === "im";
  if (!direct && event.type !== "app_mention")
    return ignored(`neither direct message nor mention: ${event.type}`);
  if (!MESSAGE_SUBTYPES.has(event.subtype)) return ignored(`subtype ${event.subtype}`);
  if (event.bot_id !== undefined) return ignored("written by a bot");
  const { channel, user, ts } = event;
  if (channel === undefined || user === undefined || ts === undefined) return ignored("no sender");
  if (user === bot || user === "USLACKBOT") return ignored("written by a bot");

  const text = personsText(body, bot);
  if (text === "") return ignored("no text");
  const target = replyTarget(channel, direct ? event.thread_ts : (event.thread_ts ?? ts));
  if (direct) {
    const decision = access(user);
    if (!decision.allowed) {
      const { answer, reason: note } = decision;
      if (answer === "ignore") return ignored(note);
      if (answer === "pair") return { kind: "unpaired", sender: user, target, note };
      return { kind: "refused", target, text: unknownSenderText("slack", user), note };
    }
  }
  const conversation = ["slack", body.team_id, channel].filter(Boolean).join(":");
  return { kind: "message", conversation, sender: user, text, target };
}

/** What the person said: without the mention of the bot, with a word for each file that came along. */
function personsText({ event }: Body, bot: string | undefined): string {
  const mention = bot === undefined ? /^\s*<@\w+(?:\|[^>]*)?>/ : new RegExp(`<@${bot}(?:\\|[^>]*)?>`, "g");
  const said = readSlackText((event.text ?? "").replace(mention, "")).trim();
  const files = (event.files ?? []).map(({ name }) => `[attached file, not read: ${name ?? "unnamed"}]`);
  return [said, ...files].filter((line) => line !== "").join("\n");
}

function replyTarget(chat: string, thread: string | undefined): ReplyTarget {
  return thread === undefined ? { chat } : { chat, thread };
}

function ignored(note: string): Inbound {
  return { kind: "ignored", note };
}
