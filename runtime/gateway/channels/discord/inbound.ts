import type { Admission, Attachment, Inbound, ReplyTarget } from "../../../contract/message.ts";
import * as z from "zod/mini";
import { isPrivateAnswer } from "../../../contract/discord-commands.ts";
import { unknownSenderText, type ChannelAccess } from "../access.ts";
import { maybe, unknownFields } from "../payload.ts";
import { attachmentKind } from "../files.ts";

/** Milliseconds between 1970 and the first second of 2015, where Discord's ids begin. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;
/** Discord takes an answer for 15 minutes; a request needs a moment to get there. */
export const TICKET_MS = 15 * 60_000 - 30_000;

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));

const person = z.object({
  id: snowflake,
  username: maybe(z.string()),
  global_name: maybe(z.string()),
  bot: maybe(z.boolean()),
});

const file = z.object({
  id: snowflake,
  filename: maybe(z.string()),
  content_type: maybe(z.string()),
  size: maybe(z.number()),
  duration_secs: maybe(z.number()),
  url: z.string(),
});

/**
 * The parts of a command that are read; Discord adds others freely.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object
 */
const commandSchema = z.object({
  id: snowflake,
  application_id: snowflake,
  type: z.literal(2),
  token: z.string(),
  channel_id: snowflake,
  guild_id: maybe(snowflake),
  member: maybe(z.object({ user: person, nick: maybe(z.string()) })),
  user: maybe(person),
  data: z.object({
    name: z.string(),
    options: maybe(z.array(z.object({ name: z.string(), value: z.unknown() }))),
    resolved: maybe(z.object({ attachments: maybe(z.record(z.string(), file)) })),
  }),
});
type Command = z.infer<typeof commandSchema>;

/** Documented fields that say nothing to the model. */
const SILENT_FIELDS = `version locale guild_locale context app_permissions entitlements channel guild message
  authorizing_integration_owners attachment_size_limit`.split(/\s+/);

/** Returns the parts of an interaction that this version does not know. */
export function unknownParts(payload: Record<string, unknown>): string[] {
  return unknownFields(payload, "", { read: commandSchema.shape, left: SILENT_FIELDS });
}

/**
 * Reads one command. `/ask` is what the person said; every other one is the chat command of its name.
 * A command is addressed to the bot by its nature.
 */
export function readDiscordInteraction(payload: Record<string, unknown>, access: ChannelAccess): Inbound {
  const parsed = commandSchema.safeParse(payload);
  if (!parsed.success) return { kind: "ignored", note: "not a command of a known form" };
  const command = parsed.data;
  const { guild_id: guild, member } = command;
  const target = replyTarget(command);
  const ignored = (note: string, unlisted?: string): Inbound => ({ kind: "ignored", note, target, unlisted });
  const user = member?.user ?? command.user;
  if (user === undefined) return ignored("no sender");
  if (user.bot === true) return ignored("written by a bot");
  const direct = guild === undefined;
  let admission: Admission;
  if (direct) {
    const decision = access.direct(user.id);
    if (!decision.allowed) {
      const { answer, reason: note } = decision;
      if (answer === "ignore") return ignored(note);
      if (answer === "refuse")
        return { kind: "refused", target, text: unknownSenderText("discord", user.id), note };
      return { kind: "unpaired", sender: user.id, meta: metaOf(user), target, note };
    }
    ({ admission } = decision);
  } else {
    const decision = access.group(guild, user.id, true);
    if (decision.becomes === "ignored") {
      const { reason, unlisted } = decision;
      return {
        ...ignored(reason, unlisted),
        ...(unlisted !== undefined && { text: unknownGuildText(guild) }),
      };
    }
    ({ admission } = decision);
  }
  const text = textOf(command);
  const attachments = attachmentsOf(command);
  if (text === "" && attachments.length === 0) return ignored("no text");
  const { id, username } = user;
  const name = member?.nick ?? user.global_name ?? username;
  const sender = { id, ...(name !== undefined && { name }), ...(username !== undefined && { username }) };
  return { kind: "message", direct, admission, sender, text, attachments, target };
}

/** Says why a server's command is not read: its sender waits for an answer, and Discord shows that it is being made. */
function unknownGuildText(guild: string): string {
  return [
    "This server is not on my list, so I have not read your command.",
    `The server's id: ${guild}`,
    `To let it in, the operator adds "${guild}" to channels.discord.guilds: /_admin/ledger has a link for it beside this command.`,
  ].join("\n");
}

/** Returns when an id was made: https://docs.discord.com/developers/reference#snowflakes-snowflake-id-format-structure-left-to-right */
function snowflakeTime(id: string): number {
  return Number(BigInt(id) >> 22n) + DISCORD_EPOCH_MS;
}

/** The ticket's token is where answers go, below `/webhooks/`: the application's id and the interaction's token. */
function replyTarget({ id, application_id, token, channel_id, guild_id, data }: Command): ReplyTarget {
  const hidden = isPrivateAnswer(data.name, guild_id !== undefined);
  return {
    chat: channel_id,
    ticket: {
      token: `${application_id}/${token}`,
      expiresAt: snowflakeTime(id) + TICKET_MS,
      ...(hidden && { private: true }),
    },
  };
}

function textOf({ data: { name, options = [] } }: Command): string {
  const value = (option: string): string => {
    const given = options.find((candidate) => candidate.name === option)?.value;
    return typeof given === "string" ? given.trim() : "";
  };
  return name === "ask" ? value("text") : `/${name} ${value("name")}`.trim();
}

function attachmentsOf({ data: { resolved } }: Command): Attachment[] {
  return Object.values(resolved?.attachments ?? {}).map(readFile);
}

/** https://docs.discord.com/developers/resources/message#attachment-object */
function readFile({
  filename,
  content_type,
  size,
  duration_secs: seconds,
  url,
}: z.infer<typeof file>): Attachment {
  const mediaType = content_type?.split(";", 1)[0]?.trim().toLowerCase();
  return {
    kind: attachmentKind(mediaType),
    reference: url,
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mediaType }),
    ...(size !== undefined && { sizeBytes: size }),
    ...(seconds !== undefined && attachmentKind(mediaType) === "audio" && { seconds }),
  };
}

function metaOf({ username, global_name: firstName }: z.infer<typeof person>): Record<string, string> {
  return { ...(username !== undefined && { username }), ...(firstName && { firstName }) };
}
