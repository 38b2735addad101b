import * as z from "zod/mini";
import { textOfBlocks, unreadable } from "../blocks.ts";
import { unknownSenderText, type ChannelAccess } from "../access.ts";
import type { Attachment, Inbound, ReplyTarget } from "../channel.ts";
import { remark } from "../../prompt/text.ts";
import { attachmentKind } from "../files.ts";
import { mentionsUser, readSlackText, withoutMention } from "./mrkdwn.ts";

/** https://docs.slack.dev/reference/objects/file-object */
const fileSchema = z.object({
  id: z.string(),
  name: z.nullish(z.string()),
  mimetype: z.nullish(z.string()),
  size: z.optional(z.number()),
  /** `tombstone`: it was deleted. `hidden_by_limit`: the workspace's plan hides it. */
  mode: z.optional(z.string()),
  /** Text of a snippet, or its beginning. */
  preview: z.nullish(z.string()),
  preview_is_truncated: z.optional(z.boolean()),
});

/**
 * The parts of an Events API body that are read; Slack adds others freely.
 * https://docs.slack.dev/apis/events-api/#event-type-structure
 */
const bodySchema = z.object({
  type: z.literal("event_callback"),
  team_id: z.optional(z.string()),
  api_app_id: z.optional(z.string()),
  authorizations: z.optional(z.array(z.object({ user_id: z.string(), is_bot: z.optional(z.boolean()) }))),
  event: z.object({
    type: z.string(),
    subtype: z.optional(z.string()),
    channel: z.optional(z.string()),
    channel_type: z.optional(z.string()),
    user: z.optional(z.string()),
    bot_id: z.optional(z.string()),
    app_id: z.optional(z.string()),
    text: z.optional(z.string()),
    /** https://docs.slack.dev/reference/block-kit : read if there is no text. */
    blocks: z.optional(z.unknown()),
    ts: z.optional(z.string()),
    thread_ts: z.optional(z.string()),
    /** Author of the message that the thread hangs on. */
    parent_user_id: z.optional(z.string()),
    files: z.optional(z.array(fileSchema)),
  }),
});
type Body = z.infer<typeof bodySchema>;

/** Subtypes under which a person's own new message comes. All others are changes and notices. */
const MESSAGE_SUBTYPES = new Set([undefined, "file_share", "me_message", "thread_broadcast"]);
/** Place where several people read along: public and private channels, and group messages. */
const GROUP_TYPES = new Set(["channel", "group", "mpim"]);

/**
 * Reads one event: a direct message, a mention, or a channel's message, which is for the bot where it
 * replies in a thread of the bot's own, or where the config asks for no mention. Everything else is left
 * with its reason. What was granted in a direct message grants nothing in a channel.
 */
export function readSlackEvent(payload: Record<string, unknown>, access: ChannelAccess): Inbound {
  const parsed = bodySchema.safeParse(payload);
  if (!parsed.success) return ignored("not an event of a known form");
  const body = parsed.data;
  const { event } = body;
  const { channel_type: type = "" } = event;
  const bot = body.authorizations?.find(({ is_bot }) => is_bot !== false)?.user_id;
  const mentioned = event.type === "app_mention";
  const direct = event.type === "message" && type === "im";
  if (!direct && !mentioned && !(event.type === "message" && GROUP_TYPES.has(type)))
    return ignored(`neither message nor mention: ${event.type}`);
  if (!MESSAGE_SUBTYPES.has(event.subtype)) return ignored(`subtype ${event.subtype}`);
  if (event.bot_id !== undefined) return ignored("written by a bot");
  const { channel, user, ts } = event;
  if (channel === undefined || user === undefined || ts === undefined) return ignored("no sender");
  if (user === bot || user === "USLACKBOT") return ignored("written by a bot");
  if (!direct && !mentioned && mentions(event.text, bot))
    return ignored("a mention, which comes as an event of its own");

  const text = personsText(body, bot);
  const attachments = readFiles(body);
  const isEmpty = text === "" && attachments.length === 0;
  // Nothing but a mention is no message; nothing at all is one of a kind that is not known.
  if (isEmpty && event.text !== undefined && event.text !== "") return ignored("no text");
  const target = replyTarget(channel, direct ? event.thread_ts : (event.thread_ts ?? ts));
  const inThread = event.thread_ts !== undefined && { inThread: true };
  const message = { direct, sender: { id: user }, text, attachments, target, ...inThread };
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

function mentions(text: string | undefined, bot: string | undefined): boolean {
  return bot !== undefined && mentionsUser(text ?? "", bot);
}

/** Returns what the person said, without the mention of the bot. */
function personsText({ event }: Body, bot: string | undefined): string {
  const said = event.text === undefined || event.text === "" ? textOfBlocks(event.blocks) : event.text;
  const words = readSlackText(withoutMention(said, bot)).trim();
  return [words, ...snippets(event.files)].filter((part) => part !== "").join("\n");
}

type File = z.infer<typeof fileSchema>;

/** Returns the texts that somebody pasted and Slack made files of. */
function snippets(files: readonly File[] = []): string[] {
  return files.filter(isSnippet).map(({ name, preview, preview_is_truncated: isCut }) => {
    return `${remark("snippet", name ?? "", isCut === false ? "" : "its beginning")}\n${preview}`;
  });
}

function isSnippet({ mode, preview }: File): boolean {
  return mode === "snippet" && (preview ?? "") !== "";
}

function readFiles({ event }: Body): Attachment[] {
  const isToldWhole = (file: File) => isSnippet(file) && file.preview_is_truncated === false;
  return (event.files ?? []).filter((file) => file.mode !== "tombstone" && !isToldWhole(file)).map(readFile);
}

function readFile(file: File): Attachment {
  const { id, name, mimetype, size } = file;
  return {
    kind: attachmentKind(mimetype ?? undefined),
    reference: id,
    ...(name && { name }),
    ...(mimetype && { mediaType: mimetype }),
    ...(size !== undefined && { sizeBytes: size }),
  };
}

function replyTarget(chat: string, thread: string | undefined): ReplyTarget {
  return thread === undefined ? { chat } : { chat, thread };
}

function ignored(note: string, unlisted?: string): Inbound {
  return { kind: "ignored", note, unlisted };
}
