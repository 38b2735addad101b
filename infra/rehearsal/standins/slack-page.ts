import { html } from "hono/html";

/** A message that the bot posted to the stand-in. */
export interface SlackMessage {
  channel: string;
  text: string;
  ts: string;
  threadTs?: string;
}

/** The stand-in's page: what the bot posted, and a form that mentions it. */
export function slackPage(messages: readonly SlackMessage[]) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Slack stand-in</title>
        <style>
          :root {
            color-scheme: light dark;
          }
          body {
            font:
              16px/1.5 system-ui,
              sans-serif;
            max-width: 40rem;
            margin: 2rem auto;
            padding: 0 1rem;
          }
          form {
            display: flex;
            gap: 0.5rem;
          }
          input {
            flex: 1;
            font: inherit;
            padding: 0.4rem;
          }
        </style>
      </head>
      <body>
        <h1>Slack stand-in</h1>
        <p>Not Slack: a stand-in of the rehearsal. What you send mentions the bot in a channel.</p>
        <form method="post" action="/say">
          <input name="text" required aria-label="Message" placeholder="Ask steward" />
          <button>Send</button>
        </form>
        <p><a href="/">Look again</a></p>
        <ul>
          ${messages.map(({ channel, text }) => html`<li><strong>steward</strong> in ${channel}: ${text}</li>`)}
        </ul>
      </body>
    </html>`;
}
