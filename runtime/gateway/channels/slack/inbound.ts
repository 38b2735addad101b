import type { Inbound, ReplyTarget } from "../../../contract/message.ts";
import type * as z from "zod/mini";
import { asEdit, unreadable } from "../blocks.ts";
import { unknownSenderText, type ChannelAccess } from "../../../shared/channel-access.ts";
import {
  readFiles,
  readShared,
  readWords,
  slackBodySchema,
  type SlackEvent,
  slackPressSchema,
} from "./message.ts";
import { mentionsUser, withoutMention } from "./mrkdwn.ts";

/** Subtypes of a person's new messages. All other subtypes are changes and notices. */
const MESSAGE_SUBTYPES = new Set(["", "file_share", "me_message", "thread_broadcast"]);
/** Channel types with several readers: public and private channels, and group messages. */
const GROUP_TYPES = new Set(["channel", "group", "mpim"]);

/**
 * Parses one event: a direct message, a mention, a channel message, or a change of one of these. A channel message is
 * for the bot if it replies in the bot's own thread or if the config requires no mention. Everything else is ignored
 * with a reason. Access in direct messages gives no access in channels.
 */
export function readSlackEvent(payload: Record<string, unknown>, access: ChannelAccess): Inbound {
  const press = slackPressSchema.safeParse(payload).data;
  if (press !== undefined) return readPress(press, access);
  const parsed = slackBodySchema.safeParse(payload);
  if (!parsed.success) return ignored("not an event of a known form");
  const { event, authorizations } = parsed.data;
  const bot = authorizations?.find(({ is_bot }) => is_bot !== false)?.user_id;
  const { type, subtype, channel = "", channel_type: kind, message } = event;
  if (type !== "message" || (subtype !== "message_changed" && subtype !== "message_deleted")) {
    const inbound = readMessage(event, bot, access);
    return event.edited === undefined ? inbound : asEdit(inbound);
  }
  // A deleted message with replies stays as a tombstone.
  const deleted = message?.subtype === "tombstone" ? message.ts : event.deleted_ts;
  if (deleted) return { kind: "deleted", target: { chat: channel }, message: deleted };
  if (message === undefined) return ignored(`subtype ${subtype}`);
  const place = { type, channel, channel_type: kind ?? (channel.startsWith("D") ? "im" : "channel") };
  return asEdit(readMessage({ ...message, ...place }, bot, access));
}

function readMessage(event: SlackEvent, bot: string | undefined, access: ChannelAccess): Inbound {
  const type = event.channel_type ?? "";
  const mentioned = event.type === "app_mention";
  const direct = event.type === "message" && type === "im";
  if (!direct && !mentioned && !(event.type === "message" && GROUP_TYPES.has(type)))
    return ignored(`neither message nor mention: ${event.type}`);
  if (!MESSAGE_SUBTYPES.has(event.subtype ?? "")) return ignored(`subtype ${event.subtype}`);
  if (event.bot_id) return ignored("written by a bot");
  const { channel, user, ts } = event;
  if (!channel || !user || !ts) return ignored("no sender");
  if (user === bot || user === "USLACKBOT") return ignored("written by a bot");
  if (!direct && !mentioned && mentions(event.text, bot))
    return ignored("a mention, which comes as an event of its own");

  const text = readWords(event, (said) => withoutMention(said, bot));
  const attachments = readFiles(event.files ?? []);
  const references = readShared(event.attachments ?? []);
  const isEmpty = text === "" && attachments.length === 0 && references.length === 0;
  // A bare mention is ignored; a message without any text is of an unknown kind.
  if (isEmpty && event.text) return ignored("no text");
  const target = replyTarget(channel, direct ? event.thread_ts : event.thread_ts || ts);
  const inThread = event.thread_ts && { inThread: true };
  const shared = references.length > 0 && { references };
  const message = {
    direct,
    sender: { id: user },
    text,
    attachments,
    ...shared,
    target,
    message: ts,
    ...inThread,
  };
  if (direct) {
    const decision = access.direct(user);
    if (decision.allowed)
      return isEmpty ? unreadable(target) : { kind: "message", admission: decision.admission, ...message };
    const { answer, reason: note } = decision;
    if (answer === "ignore") return ignored(note);
    if (answer === "pair") return { kind: "unpaired", sender: user, target, note };
    return { kind: "refused", target, text: unknownSenderText("slack", user), note };
  }
  const addressed = mentioned || (bot !== undefined && event.parent_user_id === bot);
  const decision = access.group(channel, user, addressed);
  if (decision.becomes === "ignored") return ignored(decision.reason, decision.unlisted);
  if (!isEmpty) return { kind: decision.becomes, admission: decision.admission, ...message };
  return decision.becomes === "message" ? unreadable(target) : ignored("no text");
}

/** Parses a button press. It has the same rights as a message of that person; a stranger's press has none. */
function readPress(
  { user, channel, message, actions }: z.infer<typeof slackPressSchema>,
  access: ChannelAccess,
): Inbound {
  // Ids of direct messages begin with D: https://docs.slack.dev/reference/objects/conversation-object
  const direct = channel.id.startsWith("D");
  const decision = direct ? access.direct(user.id) : access.group(channel.id, user.id, true);
  return {
    kind: "pressed",
    direct,
    ...("admission" in decision && { admission: decision.admission }),
    sender: { id: user.id, ...(user.username !== undefined && { username: user.username }) },
    target: replyTarget(channel.id, message.thread_ts),
    press: actions[0]?.value ?? "",
    ticket: user.id,
    message: message.ts,
    ...(message.text !== undefined && { text: message.text }),
  };
}

function mentions(text: string | undefined, bot: string | undefined): boolean {
  return bot !== undefined && mentionsUser(text ?? "", bot);
}

function replyTarget(chat: string, thread: string | undefined): ReplyTarget {
  return thread ? { chat, thread } : { chat };
}

function ignored(note: string, unlisted?: string): Inbound {
  return { kind: "ignored", note, unlisted };
}
