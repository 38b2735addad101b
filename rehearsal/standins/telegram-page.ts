import { html } from "hono/html";
import { standInPage } from "./page.ts";

/** A message that the bot sent, as it is shown now. */
export interface TelegramMessage {
  id: number;
  chat: string;
  thread?: number;
  /** Without markup. */
  text: string;
  /** As it was sent. */
  source: string;
  /** Texts that it had before it was edited. */
  edits: string[];
  /** Buttons below it, each with what a press sends. */
  buttons: { label: string; data: string }[];
}

/** The stand-in's page: what the bot sent, and a form that writes to it. */
export function telegramPage(messages: readonly TelegramMessage[]) {
  return standInPage("Telegram", {
    note: "What you send is a direct message, or one in a group.",
    form: html`<input name="text" required aria-label="Message" placeholder="Ask steward" />
      <select name="chat" aria-label="Chat">
        <option value="private">directly</option>
        <option value="group">in a group, mentioning the bot</option>
      </select>
      <button>Send</button>`,
    messages: messages.map(({ chat, text }) => html`<li><strong>steward</strong> in ${chat}: ${text}</li>`),
  });
}
