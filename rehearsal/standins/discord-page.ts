import type { Hono } from "hono";
import type { DiscordGateway, WrittenMessage } from "./discord-gateway.ts";
import { type DiscordMessage, PERSON, snowflakeNow } from "./discord-message.ts";
import { standInPage, type Sent } from "./page.ts";
import type { PageTranscript } from "./transcript.ts";

/** Mason's direct messages with the bot. */
const DIRECT = "1094323234567890123";
export const SERVER = {
  guild: "290926798626357999",
  channel: "645027906669510667",
  name: "Rehearsal",
  channelName: "general",
};

const EPHEMERAL = 64;
/** Type of a command option that takes a file. */
const ATTACHMENT = 11;

interface DiscordPageOptions {
  transcript: PageTranscript;
  links: Readonly<Record<string, string>>;
  applicationId: string;
  gateway: DiscordGateway;
  messages: readonly DiscordMessage[];
  commands(): readonly string[];
  /** Stores a file for download from the stand-in. Returns the Discord attachment object that describes the file. */
  addFile(file: File): Promise<{ id: string; filename: string }>;
  /**
   * Sends an interaction to the registered endpoint, if any, otherwise over the gateway connection. Resolves to the
   * reason for a failure.
   */
  interact(payload: Record<string, unknown>): Promise<string | undefined>;
  press(message: DiscordMessage, label: string, by: object): Record<string, unknown>;
}

export function discordPage(options: DiscordPageOptions): Hono {
  const { transcript, links, gateway, messages, addFile, interact } = options;
  return standInPage({
    platform: "Discord",
    transcript,
    links,
    note: () =>
      `${
        gateway.connected
          ? "A bot is connected and receives messages and mentions."
          : "No bot is connected, as on Cloudflare: only slash commands and buttons reach it. Your text is sent with /ask."
      } The bot answers on a server once the config lists it: the console has a link next to its events. Not modelled: formatting, permissions, rate limits, other resources.`,
    places: () => [
      ...(gateway.connected
        ? [
            { value: "direct", label: "directly" },
            { value: "server", label: "on a server, mentioning the bot" },
          ]
        : []),
      { value: "ask", label: "by a slash command, directly" },
      { value: "ask-server", label: "by a slash command, on a server" },
    ],
    async say({ text, place, files }: Sent) {
      const attachments = await Promise.all(files.map(addFile));
      if (place === "direct" || place === "server") {
        if (!gateway.connected) return "No bot is connected: choose a slash command.";
        if (place === "direct") gateway.say(text, { attachments });
        else gateway.sayOnServer(text, { attachments });
        return undefined;
      }
      const payload = commandOf(options, text, { onServer: place === "ask-server", attachments });
      return payload === undefined
        ? `No such command. Registered: ${options.commands().join(", ") || "none yet"}.`
        : interact(payload);
    },
    async press(id, label) {
      const message = messages.find((one) => one.id === id);
      if (message !== undefined) await interact(options.press(message, label, personIn(message.channel)));
    },
  });
}

/**
 * Returns the interaction for typed text: `/status` invokes the command `status`, and text without a slash becomes
 * the argument of `/ask`.
 */
function commandOf(
  { applicationId, commands }: DiscordPageOptions,
  text: string,
  { onServer, attachments }: { onServer: boolean; attachments: readonly { id: string }[] },
): Record<string, unknown> | undefined {
  const [, typed, rest = ""] = /^\/(\w+)\s*(.*)$/s.exec(text) ?? [undefined, "ask", text];
  const name = typed ?? "ask";
  if (!commands().includes(name)) return undefined;
  const [file] = attachments;
  const words = name === "ask" ? "text" : "name";
  const options = [
    ...(rest === "" ? [] : [{ type: 3, name: words, value: rest }]),
    ...(file === undefined ? [] : [{ type: ATTACHMENT, name: "file", value: file.id }]),
  ];
  const resolved = file !== undefined && { resolved: { attachments: { [file.id]: file } } };
  return {
    id: snowflakeNow(),
    application_id: applicationId,
    type: 2,
    token: `a-command-${snowflakeNow()}`,
    version: 1,
    ...personIn(onServer ? SERVER.channel : DIRECT),
    data: { id: "1", type: 1, name, options, ...resolved },
  };
}

function personIn(channel: string): Record<string, unknown> {
  return channel === SERVER.channel
    ? { guild_id: SERVER.guild, channel_id: channel, member: { user: PERSON, nick: null, roles: [] } }
    : { channel_id: channel, user: PERSON };
}

export function showWritten(transcript: PageTranscript, message: WrittenMessage, bot: string): void {
  const attachments = (message["attachments"] ?? []) as { filename: string }[];
  transcript.add(() => ({
    place: placeOf(message.channel_id),
    author: PERSON.global_name,
    fromBot: false,
    id: message.id,
    text: message.content.replaceAll(`<@${bot}>`, "@steward"),
    files: attachments.map(({ filename }) => filename),
  }));
}

/** Shows a slash command on the page. Ignores other interactions. */
export function showCommand(transcript: PageTranscript, payload: Record<string, unknown>): void {
  if (payload["type"] !== 2) return;
  const { name, options = [], resolved } = payload["data"] as CommandData;
  const attachments = Object.values(resolved?.attachments ?? {});
  const words = options.flatMap(({ type, value }) => (type === ATTACHMENT ? [] : value));
  const text = `/${[name, ...words].join(" ")}`;
  transcript.add(() => ({
    place: placeOf(String(payload["channel_id"])),
    author: PERSON.global_name,
    fromBot: false,
    id: String(payload["id"]),
    text,
    files: attachments.map(({ filename }) => filename),
  }));
}

/**
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-application-command-data-structure
 */
interface CommandData {
  name: string;
  options?: { type: number; value: string }[];
  resolved?: { attachments?: Record<string, { filename: string }> };
}

/** Shows a message on the page until it is deleted from `messages`. */
export function showSent(
  transcript: PageTranscript,
  message: DiscordMessage,
  messages: readonly DiscordMessage[],
): void {
  transcript.add(() =>
    messages.includes(message)
      ? {
          place: placeOf(message.channel),
          author: "steward",
          fromBot: true,
          id: message.id,
          text: unescaped(message.content),
          edits: message.edits,
          files: message.file === undefined ? [] : [message.file],
          buttons: message.buttons.map(({ label }) => label),
          note: (message.flags & EPHEMERAL) > 0 ? "only you can see this" : undefined,
        }
      : undefined,
  );
}

/** Removes the backslashes that escape Markdown characters, because Discord's apps do not show them. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}

function placeOf(channel: string): string {
  if (channel === DIRECT) return `Direct messages with ${PERSON.global_name}`;
  return channel === SERVER.channel ? `#${SERVER.channelName} on the server` : `Channel ${channel}`;
}
