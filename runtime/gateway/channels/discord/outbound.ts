import type { ButtonPress, ReplyTarget } from "../../../contract/message.ts";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod/mini";
import { RefusedError } from "../../failure.ts";
import type { Button } from "../../actions.ts";
import type { OutgoingFile } from "../channel.ts";
import { TICKET_MS } from "./inbound.ts";
import { writeDiscordText } from "./text.ts";
import { DiscordError, type createDiscordApi, type TicketRequest } from "./api.ts";

type Ticket = NonNullable<ReplyTarget["ticket"]>;

/**
 * Upload limit for servers without paid upgrades, in bytes:
 * https://docs.discord.com/developers/reference#uploading-files
 */
export const LARGEST_FILE = 10 * 1024 * 1024;
/** Longest message, in characters: https://docs.discord.com/developers/resources/message#create-message */
const LONGEST_TEXT = 2_000;
const EPHEMERAL = 64;
/**
 * Flag that suppresses link previews. Discord would fetch every link, and a URL could leak parts of the conversation.
 */
const SUPPRESS_EMBEDS = 4;
const ORIGINAL = "/messages/@original";
/**
 * Age of an interaction token, in milliseconds, below which refused requests are retried: Discord may not recognise a
 * new token at first.
 */
const FRESH_MS = 60_000;
const WAITS_MS = [250, 500, 1_000, 2_000, 4_000];
/** Error codes for an interaction token that Discord does not recognise yet, or that has expired. */
const TICKET_UNKNOWN = new Set([10015, 10062, 50027]);

/** Error code: the bot may not read the channel's history, so it cannot reply to a message there. */
const MAY_NOT_REFER = 160002;

const sentSchema = z.object({ id: z.string() });

export interface DiscordSenderOptions {
  call: ReturnType<typeof createDiscordApi>;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/**
 * Sends messages to Discord. With a valid ticket (interaction token), the first message of a reply replaces the
 * "thinking" placeholder, and the others follow it. Otherwise, the bot posts the messages to the channel. Methods
 * throw a DiscordError, or a RefusedError if the ticket for a private answer has expired.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#followup-messages
 */
export class DiscordSender {
  readonly #options: DiscordSenderOptions;

  constructor(options: DiscordSenderOptions) {
    this.#options = options;
  }

  /** Returns the message's id. */
  async send(
    { chat, ticket, answers }: ReplyTarget,
    text: string,
    part: number,
    buttons: readonly Button[] = [],
  ): Promise<string | undefined> {
    const body = { ...content(text), components: rowsOf(buttons) };
    const flags = ticket?.private === true ? { flags: EPHEMERAL | SUPPRESS_EMBEDS } : {};
    const sent =
      part === 0
        ? await this.#byTicket(ticket, { method: "PATCH", path: ORIGINAL, body })
        : await this.#byTicket(ticket, { method: "POST", path: "?wait=true", body: { ...body, ...flags } });
    if (sent !== undefined) return sentSchema.safeParse(sent.value).data?.id;
    if (ticket?.private === true) throw tooLate();
    const posted = await this.#post(chat, body, part === 0 ? answers : undefined);
    return sentSchema.safeParse(posted).data?.id;
  }

  async #post(channel: string, body: object, answers: string | undefined): Promise<unknown> {
    const message = { operation: "discord/message.create", values: { channel } } as const;
    if (answers === undefined) return this.#options.call({ ...message, body });
    const reference = { message_reference: { message_id: answers, fail_if_not_exists: false } };
    try {
      return await this.#options.call({ ...message, body: { ...body, ...reference } });
    } catch (error) {
      if (!(error instanceof DiscordError) || error.code !== MAY_NOT_REFER) throw error;
      return this.#options.call({ ...message, body });
    }
  }

  /** https://docs.discord.com/developers/resources/user#create-dm */
  async directChat(person: string): Promise<string> {
    const opened = await this.#options.call({
      operation: "discord/dm.create",
      body: { recipient_id: person },
    });
    return sentSchema.parse(opened).id;
  }

  /**
   * Responds to a button press. If `done` is true, appends `word` to the message and removes its buttons. Otherwise
   * sends `word` privately to the person.
   */
  async answerPress(
    { ticket: token, target, message, text = "" }: ButtonPress,
    word: string,
    done: boolean,
  ): Promise<void> {
    const ticket = { token, expiresAt: this.#options.clock() + TICKET_MS };
    const shown = `${text}\n✓ ${word}`;
    const settled = { ...content(shown.length > LONGEST_TEXT ? text : shown), components: [] };
    const request: TicketRequest = done
      ? { method: "PATCH", path: ORIGINAL, body: settled }
      : { method: "POST", path: "", body: { ...content(word), flags: EPHEMERAL | SUPPRESS_EMBEDS } };
    if ((await this.#byTicket(ticket, request)) !== undefined || !done || message === undefined) return;
    const values = { channel: target.chat, message };
    await this.#options.call({ operation: "discord/message.edit", values, body: settled });
  }

  /**
   * Sends a file as a separate message. Call `send` first, because the first message replaces the "thinking"
   * placeholder.
   */
  async sendFile({ chat, ticket }: ReplyTarget, sent: OutgoingFile, caption = ""): Promise<void> {
    const file = new File([sent.data], sent.name, { type: sent.mediaType });
    const body = content(caption);
    const flags = ticket?.private === true ? { flags: EPHEMERAL | SUPPRESS_EMBEDS } : {};
    const path = "?wait=true";
    if (await this.#byTicket(ticket, { method: "POST", path, body: { ...body, ...flags }, file })) return;
    if (ticket?.private === true) throw tooLate();
    await this.#options.call({ operation: "discord/file.create", values: { channel: chat }, body, file });
  }

  /** Replaces a message's text and removes its buttons. Also works for messages that were sent with a ticket. */
  async edit({ chat, ticket }: ReplyTarget, id: string, text: string): Promise<void> {
    const path = `/messages/${encodeURIComponent(id)}`;
    const body = { ...content(text), components: [] };
    if ((await this.#byTicket(ticket, { method: "PATCH", path, body })) !== undefined) return;
    await this.#options.call({
      operation: "discord/message.edit",
      values: { channel: chat, message: id },
      body,
    });
  }

  /** Shows the typing indicator for ten seconds, unless Discord shows the "thinking" placeholder. */
  async typing({ chat, ticket }: ReplyTarget): Promise<void> {
    if (ticket === undefined)
      await this.#options.call({ operation: "discord/typing", values: { channel: chat } });
  }

  async react({ chat }: ReplyTarget, message: string, emoji: string): Promise<void> {
    await this.#options.call({
      operation: "discord/reaction.create",
      values: { channel: chat, message, emoji },
    });
  }

  async dismiss({ ticket }: ReplyTarget): Promise<void> {
    await this.#byTicket(ticket, { method: "DELETE", path: ORIGINAL });
  }

  /** Sends a request with the ticket's token. Returns `undefined` if there is no ticket or it has expired. */
  async #byTicket(
    ticket: Ticket | undefined,
    request: TicketRequest,
  ): Promise<{ value: unknown } | undefined> {
    if (ticket === undefined || this.#options.clock() >= ticket.expiresAt) return undefined;
    const path = `/webhooks/${ticket.token.split("/").map(encodeURIComponent).join("/")}${request.path}`;
    const fresh = this.#options.clock() - (ticket.expiresAt - TICKET_MS) < FRESH_MS;
    for (const wait of [...(fresh ? WAITS_MS : []), undefined]) {
      try {
        return { value: await this.#options.call({ ...request, path }) };
      } catch (error) {
        if (!(error instanceof DiscordError)) throw error;
        const early = error.status === 404 && TICKET_UNKNOWN.has(error.code);
        if (early && wait !== undefined) await sleep(wait);
        else if (early || ended(error, request)) return undefined;
        else throw error;
      }
    }
    return undefined;
  }
}

function tooLate(): RefusedError {
  return new RefusedError("reply_refused", "Discord accepts a private answer for 15 minutes only.");
}

/**
 * Returns true if the interaction token has expired, or is invalid because somebody deleted the "thinking"
 * placeholder.
 */
function ended({ status, code }: DiscordError, { path }: TicketRequest): boolean {
  const one = path.startsWith("/messages/") && path !== ORIGINAL;
  return status === 401 || TICKET_UNKNOWN.has(code) || (code === 10008 && !one);
}

/**
 * Builds a message without notifications for mentions:
 * https://docs.discord.com/developers/resources/message#allowed-mentions-object
 */
function content(text: string): object {
  return { content: writeDiscordText(text), allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS };
}

/** Buttons per row: https://docs.discord.com/developers/components/reference#action-row */
const ROW = 5;
/** https://docs.discord.com/developers/components/reference#component-object-component-types */
const ACTION_ROW = 1;
const BUTTON = 2;
const SECONDARY = 2;

function rowsOf(buttons: readonly Button[]): object[] {
  const components = buttons.map(({ label, press }) => ({
    type: BUTTON,
    style: SECONDARY,
    label,
    custom_id: press,
  }));
  return Array.from({ length: Math.ceil(components.length / ROW) }, (_, row) => ({
    type: ACTION_ROW,
    components: components.slice(row * ROW, (row + 1) * ROW),
  }));
}
