import { html } from "hono/html";
import type { DiscordMessage } from "./discord-message.ts";
import { standInPage } from "./page.ts";

/** The stand-in's page: what the bot sent, and a form that writes to it over the gateway connection. */
export function discordPage(messages: readonly DiscordMessage[], isConnected: boolean) {
  return standInPage("Discord", {
    note: isConnected
      ? "What you send is a direct message, or a mention on a server. The server is answered once the config lists it."
      : "No bot is connected: only a host reads messages.",
    form: html`<input name="text" required aria-label="Message" placeholder="Ask steward" />
      <select name="place" aria-label="Place">
        <option value="direct">directly</option>
        <option value="server">on a server, mentioning the bot</option>
      </select>
      <button>Send</button>`,
    messages: messages.map(
      ({ place, content }) => html`<li><strong>steward</strong> in ${place}: ${content}</li>`,
    ),
  });
}
