import { html } from "hono/html";

/** A page of a stand-in: what the bot sent, and a form that writes to it. */
export function standInPage(platform: string, parts: { note: string; form: unknown; messages: unknown }) {
  const title = `${platform} stand-in`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
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
            flex-wrap: wrap;
            gap: 0.5rem;
          }
          input {
            flex: 1;
            font: inherit;
            padding: 0.4rem;
          }
          li {
            white-space: pre-wrap;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        <p>Not ${platform}: a stand-in of the rehearsal. ${parts.note}</p>
        <form method="post" action="/say">${parts.form}</form>
        <p><a href="/">Look again</a></p>
        <ul>
          ${parts.messages}
        </ul>
      </body>
    </html>`;
}
