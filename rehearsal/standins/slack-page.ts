import { html } from "hono/html";
import { standInPage } from "./page.ts";

/** A message that the bot posted to the stand-in. */
export interface SlackMessage {
  channel: string;
  text: string;
  ts: string;
  threadTs?: string;
}

/** The stand-in's page: what the bot posted, and a form that mentions it. */
export function slackPage(messages: readonly SlackMessage[]) {
  return standInPage("Slack", {
    note: "What you send mentions the bot in a channel.",
    form: html`<input name="text" required aria-label="Message" placeholder="Ask steward" />
      <button>Send</button>`,
    messages: messages.map(
      ({ channel, text }) => html`<li><strong>steward</strong> in ${channel}: ${text}</li>`,
    ),
  });
}
