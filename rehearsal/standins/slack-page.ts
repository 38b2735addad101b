import type { Hono } from "hono";
import { readSlackText } from "../../runtime/gateway/channels/slack/mrkdwn.ts";
import { standInPage, type Sent } from "./page.ts";
import { CHANNEL, direct, mention, overheard, PERSON, type SlackEvent, WORKSPACE } from "./slack-events.ts";
import type { PageTranscript } from "./transcript.ts";

export interface SlackMessage {
  channel: string;
  text: string;
  ts: string;
  threadTs?: string;
  edits: number;
  /** Buttons; pressing one sends its `value`. */
  buttons: readonly { label: string; value: string }[];
}

interface SlackPageOptions {
  transcript: PageTranscript;
  links: Readonly<Record<string, string>>;
  messages: readonly SlackMessage[];
  addFile(file: File, channel: string): Promise<{ name: string }>;
  /** Sends an event to the service. Resolves to the response status; `undefined` if no service is deployed. */
  send(event: ReturnType<typeof mention>): Promise<number | undefined>;
  press(message: SlackMessage, label: string): Promise<number | undefined>;
}

const NOT_DEPLOYED = "The service is not deployed yet: Slack does not know where to send events.";

export function slackPage({ transcript, links, messages, addFile, send, press }: SlackPageOptions): Hono {
  const kinds = { mention, overheard, direct };
  return standInPage({
    platform: "Slack",
    transcript,
    links,
    note: () =>
      "The bot answers a mention in its thread, and a direct message once you are approved. Not modelled: formatting, scopes, rate limits, repeated events, other methods.",
    places: (root) =>
      [
        { value: "mention", label: `in #${CHANNEL.name}, mentioning the bot`, chat: CHANNEL.id },
        { value: "direct", label: "in a direct message", chat: DIRECT },
        { value: "overheard", label: `in #${CHANNEL.name}, without a mention`, chat: CHANNEL.id },
      ].filter(({ chat }) => root === undefined || root.place === placeOf(chat)),
    async say({ text, place, thread, files }: Sent) {
      const kind = place in kinds ? (place as keyof typeof kinds) : "mention";
      const chat = kind === "direct" ? DIRECT : CHANNEL.id;
      const kept = await Promise.all(files.map((file) => addFile(file, chat)));
      const more = { ...(thread && { thread_ts: thread }), ...(kept.length > 0 && { files: kept }) };
      const said = kinds[kind](text);
      const status = await send({ ...said, event: { ...said.event, ...more } });
      return status === undefined ? NOT_DEPLOYED : undefined;
    },
    async press(id, label) {
      const message = messages.find(({ ts }) => ts === id);
      if (message !== undefined) await press(message, label);
    },
  });
}

const DIRECT = "D0REHEARSAL";

/**
 * Shows a person's message on the page. `status` returns the status of the service's response; `undefined` while it is
 * pending.
 */
export function showPerson(
  transcript: PageTranscript,
  { event }: { event: SlackEvent },
  status: () => number | undefined,
): void {
  if (!("text" in event) || event.subtype !== undefined) return;
  const files = event.files?.map(({ name }) => name) ?? [];
  transcript.add(() => ({
    place: placeOf(event.channel),
    author: PERSON.profile.display_name,
    fromBot: false,
    text: shownText(event.text),
    id: event.ts,
    thread: event.thread_ts,
    startsThread: event.thread_ts === undefined,
    files,
    note: noteOf(status()),
  }));
}

/** `note` is a remark, such as who can see the message. */
export function showBot(transcript: PageTranscript, message: SlackMessage, note?: string): void {
  transcript.add(() => ({
    place: placeOf(message.channel),
    author: WORKSPACE.user,
    fromBot: true,
    text: shownText(message.text),
    id: message.ts,
    thread: message.threadTs,
    startsThread: message.threadTs === undefined,
    edits: message.edits,
    buttons: message.buttons.map(({ label }) => label),
    note,
  }));
}

function noteOf(status: number | undefined): string | undefined {
  if (status === undefined || status === 200) return undefined;
  return status === 503
    ? "answered with 503: the container was asleep, and the event is queued"
    : `answered with ${status}`;
}

function placeOf(channel: string): string {
  if (channel.startsWith("D")) return `Direct message${channel === DIRECT ? "" : ` ${channel}`}`;
  return `#${channel === CHANNEL.id ? CHANNEL.name : channel}`;
}

/** Returns text as Slack's apps show it: without escapes, and with names in mentions. */
function shownText(text: string): string {
  return readSlackText(text.replaceAll(`<@${WORKSPACE.user_id}>`, `@${WORKSPACE.user}`));
}
