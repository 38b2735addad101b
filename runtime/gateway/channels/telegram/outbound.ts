import type { ReplyTarget } from "../../../contract/message.ts";
import { type CallOptions, TelegramError, type TelegramApi } from "../../../process/telegram/api.ts";
import type { Button } from "../../actions.ts";
import type { OutgoingFile } from "../channel.ts";
import type { ChatMoves } from "./moves.ts";
import { writeTelegramHtml } from "./text.ts";

/** A typing indicator that comes late is of no use. */
const TYPING_TIMEOUT_MS = 5_000;
/** A slow line needs its time for a large file. */
const FILE_TIMEOUT_MS = 120_000;

/** Bytes of the largest file: https://core.telegram.org/bots/api#senddocument */
export const LARGEST_DOCUMENT = 50_000_000;
/** Bytes of the largest picture that is shown as one: https://core.telegram.org/bots/api#sendphoto */
const LARGEST_PHOTO = 10_000_000;
const PHOTO_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/webp"]);
/** UTF-16 units of the longest caption: https://core.telegram.org/bots/api#senddocument */
const LONGEST_CAPTION = 1_024;

/** Sender to Telegram. Every method throws a TelegramError. */
export class TelegramSender {
  readonly #api: TelegramApi;
  readonly #moves: Pick<ChatMoves, "current" | "note">;

  constructor(api: TelegramApi, moves: Pick<ChatMoves, "current" | "note">) {
    this.#api = api;
    this.#moves = moves;
  }

  /** Sends a message and gives its id: https://core.telegram.org/bots/api#sendmessage */
  async send(
    target: ReplyTarget,
    text: string,
    buttons: readonly Button[] = [],
  ): Promise<string | undefined> {
    const rows = buttons.map(({ label, press }) => [{ text: label, callback_data: press }]);
    const keyboard = rows.length > 0 && { reply_markup: { inline_keyboard: rows } };
    const sent = await this.#write("sendMessage", target, text, { ...keyboard });
    const id =
      typeof sent === "object" && sent !== null && "message_id" in sent ? sent.message_id : undefined;
    return id === undefined ? undefined : String(id);
  }

  /**
   * Sends a file; a picture is shown as one where Telegram takes it so. The sides of a picture are Telegram's to judge:
   * a photo that it refuses was not sent, and goes out as a document.
   */
  async sendFile(target: ReplyTarget, { name, mediaType, data }: OutgoingFile, caption = ""): Promise<void> {
    const content = new Blob([data], { type: mediaType });
    const parameters = caption === "" ? {} : { caption: caption.slice(0, LONGEST_CAPTION).toWellFormed() };
    const post = (method: string, field: "photo" | "document"): Promise<unknown> =>
      this.#call(method, target, parameters, {
        timeoutMs: FILE_TIMEOUT_MS,
        file: { field, name, content },
      });
    if (PHOTO_TYPES.has(mediaType) && data.byteLength <= LARGEST_PHOTO) {
      try {
        await post("sendPhoto", "photo");
        return;
      } catch (error) {
        if (!(error instanceof TelegramError) || !isPhotoRefused(error)) throw error;
      }
    }
    await post("sendDocument", "document");
  }

  /** Replaces a message's text: https://core.telegram.org/bots/api#editmessagetext */
  async edit({ chat }: ReplyTarget, id: string, text: string): Promise<void> {
    try {
      await this.#write("editMessageText", { chat }, text, { message_id: Number(id) });
    } catch (error) {
      if (!(error instanceof TelegramError && /message is not modified/i.test(error.message))) throw error;
    }
  }

  /** Sets a reaction: https://core.telegram.org/bots/api#setmessagereaction */
  async react(target: ReplyTarget, message: string, emoji: string): Promise<void> {
    const { chat } = target;
    const reaction = [{ type: "emoji", emoji }];
    await this.#call("setMessageReaction", { chat }, { message_id: Number(message), reaction });
  }

  /** Ends the wait for a press: https://core.telegram.org/bots/api#answercallbackquery */
  async answerPress(ticket: string, text: string): Promise<void> {
    await this.#api.call("answerCallbackQuery", { callback_query_id: ticket, text });
  }

  /** Takes the buttons away: https://core.telegram.org/bots/api#editmessagereplymarkup */
  async removeButtons(target: ReplyTarget, id: string): Promise<void> {
    const { chat } = target;
    const none = { message_id: Number(id), reply_markup: { inline_keyboard: [] } };
    await this.#call("editMessageReplyMarkup", { chat }, none);
  }

  /** Shows "typing" for five seconds: https://core.telegram.org/bots/api#sendchataction */
  async typing(target: ReplyTarget): Promise<void> {
    const place = this.#place(target);
    await this.#api.call("sendChatAction", { ...place, action: "typing" }, { timeoutMs: TYPING_TIMEOUT_MS });
  }

  /** With the reply's markup; as plain text where Telegram does not understand it. */
  async #write(method: string, target: ReplyTarget, text: string, more: object): Promise<unknown> {
    const plain = { ...more, text, link_preview_options: { is_disabled: true } };
    try {
      const marked = { ...plain, text: writeTelegramHtml(text), parse_mode: "HTML" };
      return await this.#call(method, target, marked);
    } catch (error) {
      const unread =
        error instanceof TelegramError &&
        error.status === 400 &&
        /can't parse entities|text (?:is|must be non-)empty/i.test(error.message);
      if (!unread) throw error;
      return this.#call(method, target, plain);
    }
  }

  /** Into the group itself where the topic is gone or closed, and to a group's new id where it has one. */
  async #call(
    method: string,
    target: ReplyTarget,
    parameters: object,
    options?: CallOptions,
  ): Promise<unknown> {
    try {
      return await this.#api.call(method, { ...this.#place(target), ...parameters }, options);
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      const { chat, thread } = target;
      // The broker knows a group's new id once Telegram has announced it.
      if (error.brokerCode === "broker_other_chat" && this.#moves.current(chat) !== chat)
        throw new TelegramError(0, error.message);
      if (thread !== undefined && isTopicGone(error))
        return this.#call(method, { chat }, parameters, options);
      // Once: an id that is known already is not asked about again.
      if (error.migratedTo === undefined || this.#moves.current(chat) !== chat) throw error;
      this.#moves.note(chat, error.migratedTo);
      return this.#call(method, target, parameters, options);
    }
  }

  #place({ chat, thread }: ReplyTarget): object {
    return {
      chat_id: this.#moves.current(chat),
      ...(thread !== undefined && { message_thread_id: Number(thread) }),
    };
  }
}

/** Among them PHOTO_INVALID_DIMENSIONS and IMAGE_PROCESS_FAILED: https://core.telegram.org/method/messages.sendMedia */
function isPhotoRefused({ status, message }: TelegramError): boolean {
  return status === 400 && /PHOTO_|IMAGE_PROCESS_FAILED/.test(message);
}

/** As Telegram says it; the list of its errors is not documented: https://github.com/tdlib/td/issues/3111 */
function isTopicGone({ status, message }: TelegramError): boolean {
  return status === 400 && /message thread not found|TOPIC_(?:CLOSED|DELETED)/i.test(message);
}
