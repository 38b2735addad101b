import type { Hono } from "hono";
import { standInPage, type Sent } from "./page.ts";
import type { PageTranscript } from "./transcript.ts";

export interface TelegramMessage {
  id: number;
  chat: string;
  thread?: number;
  text: string;
  /** Text as sent, with markup. */
  source: string;
  /** Previous texts, before each edit. */
  edits: string[];
  /** Buttons; pressing one sends its `data`. */
  buttons: { label: string; data: string }[];
}

export const USERNAME = "steward_rehearsal_bot";
export const PERSON = { id: 123456789, is_bot: false, first_name: "Ada", username: "ada" };
export const PRIVATE = { id: PERSON.id, type: "private", first_name: "Ada", username: "ada" };
export const GROUP = { id: -1001234567890, type: "supergroup", title: "Rehearsal" };
const TOPIC = { id: 7, name: "Deploys" };

interface TelegramPageOptions {
  transcript: PageTranscript;
  links: Readonly<Record<string, string>>;
  messages: readonly TelegramMessage[];
  addFile(file: File): Promise<string>;
  say(text: string, extra: Record<string, unknown>): unknown;
  press(message: TelegramMessage, label: string): unknown;
}

export function telegramPage({
  transcript,
  links,
  messages,
  addFile,
  say,
  press,
}: TelegramPageOptions): Hono {
  return standInPage({
    platform: "Telegram",
    transcript,
    links,
    note: () =>
      "Several files are sent as an album. The bot answers in a group once the config lists it: the console has a link next to its events. Not modelled: formatting, rate limits, privacy mode, other methods.",
    places: () => [
      { value: "private", label: "directly" },
      { value: "group", label: "in the group, mentioning the bot" },
      { value: "topic", label: `in the group's topic ${TOPIC.name}, mentioning the bot` },
    ],
    async say({ text, place, files }: Sent) {
      const topic = place === "topic" && { message_thread_id: TOPIC.id, is_topic_message: true };
      const inGroup = place === "group" || place === "topic";
      const [words, { entities, ...chat }]: ReturnType<typeof mention> = inGroup ? mention(text) : [text, {}];
      const marked = entities !== undefined;
      if (files.length === 0) return void say(words, { ...chat, ...topic, ...(marked && { entities }) });
      const album = files.length > 1 && { media_group_id: crypto.randomUUID() };
      for (const [index, file] of files.entries()) {
        const caption = index === 0 && { caption: words, ...(marked && { caption_entities: entities }) };
        const content = contentOf(file, await addFile(file));
        say("", { ...chat, ...topic, ...album, ...content, ...caption, text: undefined });
      }
      return undefined;
    },
    press(id, label) {
      const message = messages.find((one) => idOf(one.chat, one.id) === id);
      if (message !== undefined) press(message, label);
    },
  });
}

/** Returns arguments for {@link TelegramPageOptions.say}: a group message that mentions the bot. */
export function mention(text: string): [text: string, extra: Record<string, unknown>] {
  const entities = [{ type: "mention", offset: 0, length: USERNAME.length + 1 }];
  return [`@${USERNAME} ${text}`, { chat: GROUP, entities }];
}

/** https://core.telegram.org/bots/api#photosize and https://core.telegram.org/bots/api#document */
function contentOf(file: File, id: string): object {
  const described = { file_id: id, file_unique_id: id, file_size: file.size };
  return /^image\/(?:jpeg|png|webp)$/.test(file.type)
    ? { photo: [{ ...described, width: 512, height: 512 }] }
    : { document: { ...described, file_name: file.name, mime_type: file.type } };
}

interface Said {
  message_id: number;
  chat: { id: number; type: string; title?: string; first_name?: string };
  from?: { first_name: string };
  text?: string;
  caption?: string;
  message_thread_id?: number;
  media_group_id?: string;
  photo?: object[];
  document?: { file_name: string };
}

export interface TelegramView {
  /** Adds or edits a person's message. */
  update(update: Record<string, unknown>): void;
  sent(message: TelegramMessage): void;
}

export function telegramView(transcript: PageTranscript): TelegramView {
  const names = new Map<string, string>();
  const said = new Map<string, { text: string; edits: number }>();
  const placeOf = (chat: string, thread: number | undefined): string => {
    const name = names.get(chat) ?? `Chat ${chat}`;
    if (thread === undefined) return name;
    return `${name} › ${thread === TOPIC.id ? TOPIC.name : `topic ${thread}`}`;
  };
  return {
    update({ message, edited_message: edited }) {
      const one = (message ?? edited) as Said | undefined;
      if (one === undefined) return;
      const { chat, message_id, from, message_thread_id: thread, media_group_id: album } = one;
      const id = idOf(String(chat.id), message_id);
      const text = one.text ?? one.caption ?? "";
      const known = said.get(id);
      if (known !== undefined) {
        Object.assign(known, { text, edits: known.edits + 1 });
        return transcript.changed();
      }
      const shown = { text, edits: 0 };
      said.set(id, shown);
      names.set(String(chat.id), chat.title ?? `Private chat with ${chat.first_name ?? chat.id}`);
      const files = [...(one.photo ? ["photo"] : []), ...(one.document ? [one.document.file_name] : [])];
      transcript.add(() => ({
        ...shown,
        place: placeOf(String(chat.id), thread),
        author: from?.first_name ?? "Somebody",
        fromBot: false,
        id,
        files,
        note: album === undefined ? undefined : "part of an album",
      }));
    },
    sent(message) {
      transcript.add(() => ({
        place: placeOf(message.chat, message.thread),
        author: "steward",
        fromBot: true,
        text: message.text,
        id: idOf(message.chat, message.id),
        edits: message.edits.length,
        buttons: message.buttons.map(({ label }) => label),
      }));
    },
  };
}

/** Contains the chat, because Telegram numbers messages per chat. */
export function idOf(chat: string, message: number): string {
  return `${chat}/${message}`;
}
