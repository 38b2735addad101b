import { TelegramError, type TelegramApi } from "../../../process/telegram/api.ts";
import type { Button } from "../../actions.ts";
import type { ReplyTarget } from "../channel.ts";
import type { ChatMoves } from "./moves.ts";
import { writeTelegramHtml } from "./text.ts";

/** A typing indicator that comes late is of no use. */
const TYPING_TIMEOUT_MS = 5_000;

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

  /** Replaces a message's text: https://core.telegram.org/bots/api#editmessagetext */
  async edit({ chat }: ReplyTarget, id: string, text: string): Promise<void> {
    try {
      await this.#write("editMessageText", { chat }, text, { message_id: Number(id) });
    } catch (error) {
      if (!(error instanceof TelegramError && /message is not modified/i.test(error.message))) throw error;
    }
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
  async #call(method: string, target: ReplyTarget, parameters: object): Promise<unknown> {
    try {
      return await this.#api.call(method, { ...this.#place(target), ...parameters });
    } catch (error) {
      if (!(error instanceof TelegramError)) throw error;
      const { chat, thread } = target;
      if (thread !== undefined && isTopicGone(error)) return this.#call(method, { chat }, parameters);
      // Once: an id that is known already is not asked about again.
      if (error.migratedTo === undefined || this.#moves.current(chat) !== chat) throw error;
      this.#moves.note(chat, error.migratedTo);
      return this.#call(method, target, parameters);
    }
  }

  #place({ chat, thread }: ReplyTarget): object {
    return {
      chat_id: this.#moves.current(chat),
      ...(thread !== undefined && { message_thread_id: Number(thread) }),
    };
  }
}

/** As Telegram says it; the list of its errors is not documented: https://github.com/tdlib/td/issues/3111 */
function isTopicGone({ status, message }: TelegramError): boolean {
  return status === 400 && /message thread not found|TOPIC_(?:CLOSED|DELETED)/i.test(message);
}
