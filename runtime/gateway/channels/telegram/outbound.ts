import type { ReplyTarget } from "../../../contract/message.ts";
import { type CallOptions, TelegramError, type TelegramApi } from "../../../process/telegram/api.ts";
import type { Button } from "../../actions.ts";
import type { OutgoingFile } from "../channel.ts";
import type { ChatMoves } from "./moves.ts";
import { writeTelegramHtml } from "./text.ts";

/** A late typing indicator is useless. */
const TYPING_TIMEOUT_MS = 5_000;
/** Large files take longer on slow connections. */
const FILE_TIMEOUT_MS = 120_000;

/** Upload limit in bytes: https://core.telegram.org/bots/api#senddocument */
export const LARGEST_DOCUMENT = 50_000_000;
/** Size limit for photos in bytes: https://core.telegram.org/bots/api#sendphoto */
const LARGEST_PHOTO = 10_000_000;
const PHOTO_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/webp"]);
/** Caption limit in UTF-16 units: https://core.telegram.org/bots/api#senddocument */
const LONGEST_CAPTION = 1_024;

/** Sends to Telegram. Methods throw a TelegramError. */
export class TelegramSender {
  readonly #api: TelegramApi;
  readonly #moves: Pick<ChatMoves, "current" | "note">;

  constructor(api: TelegramApi, moves: Pick<ChatMoves, "current" | "note">) {
    this.#api = api;
    this.#moves = moves;
  }

  /** Returns the message's id: https://core.telegram.org/bots/api#sendmessage */
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

  /** Sends a file. Sends a picture as a photo, or as a document if Telegram refuses the photo. */
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

  /** https://core.telegram.org/bots/api#editmessagetext */
  async edit({ chat }: ReplyTarget, id: string, text: string): Promise<void> {
    try {
      await this.#write("editMessageText", { chat }, text, { message_id: Number(id) });
    } catch (error) {
      if (!(error instanceof TelegramError && /message is not modified/i.test(error.message))) throw error;
    }
  }

  /** https://core.telegram.org/bots/api#setmessagereaction */
  async react(target: ReplyTarget, message: string, emoji: string): Promise<void> {
    const { chat } = target;
    const reaction = [{ type: "emoji", emoji }];
    await this.#call("setMessageReaction", { chat }, { message_id: Number(message), reaction });
  }

  /** https://core.telegram.org/bots/api#answercallbackquery */
  async answerPress(ticket: string, text: string): Promise<void> {
    await this.#api.call("answerCallbackQuery", { callback_query_id: ticket, text });
  }

  /** https://core.telegram.org/bots/api#editmessagereplymarkup */
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

  /** Sends text with markup, or plain text if Telegram cannot parse the markup. */
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

  /**
   * Calls an API method. Retries without the topic if the topic is gone or closed, and with the new id if the group
   * has moved.
   */
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
      // The broker refuses the group's new id until Telegram has announced the move. Make the caller retry.
      if (error.brokerCode === "broker_other_chat" && this.#moves.current(chat) !== chat)
        throw new TelegramError(0, error.message);
      if (thread !== undefined && isTopicGone(error))
        return this.#call(method, { chat }, parameters, options);
      // Rethrow if the group has not moved, or if its move was already followed.
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

/** Covers errors such as PHOTO_INVALID_DIMENSIONS: https://core.telegram.org/method/messages.sendMedia */
function isPhotoRefused({ status, message }: TelegramError): boolean {
  return status === 400 && /PHOTO_|IMAGE_PROCESS_FAILED/.test(message);
}

/**
 * Recognises the error by its text, because Telegram does not document its errors:
 * https://github.com/tdlib/td/issues/3111
 */
function isTopicGone({ status, message }: TelegramError): boolean {
  return status === 400 && /message thread not found|TOPIC_(?:CLOSED|DELETED)/i.test(message);
}
