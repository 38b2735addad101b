import { html, raw } from "hono/html";
import { ROUTES } from "../../contract/routes.ts";
import { CHAT_SCRIPT } from "./chat-script.ts";
import { CHAT_STYLE } from "./chat-style.ts";
import { hashSource, type Markup } from "./layout.ts";

// One piece each, since the policy's hashes count every space between the tags.
const STYLE_ELEMENT = `<style>${CHAT_STYLE}</style>`;
const SCRIPT_ELEMENT = `<script type="module">${CHAT_SCRIPT}</script>`;

/**
 * The policy that fits the page: its own script and style, and its own host's socket. The socket's
 * address is named beside 'self', which in older browsers means http only.
 */
export async function chatContentSecurityPolicy(host: string): Promise<string> {
  const [script, style] = await Promise.all([hashSource(CHAT_SCRIPT), hashSource(CHAT_STYLE)]);
  return `default-src 'none'; script-src ${script}; style-src ${style}; connect-src 'self' ws://${host} wss://${host}; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`;
}

/** The page of the web chat. It holds nothing: what it may see is settled on its socket. */
export function chatPage(): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          name="viewport"
          content="width=device-width, initial-scale=1, interactive-widget=resizes-content"
        />
        <title>steward chat</title>
        <link rel="icon" href="data:," />
        ${raw(STYLE_ELEMENT)}
      </head>
      <body data-socket="${ROUTES.chatSocket.path}">
        <header>
          <h1>steward</h1>
          <p id="state" role="status" data-tone="wait">Connecting</p>
        </header>
        <noscript><p class="note">The chat needs JavaScript.</p></noscript>
        <section id="pairing" hidden aria-labelledby="pairing-title">
          <h2 id="pairing-title">Pair this browser</h2>
          <p>The operator runs this command within 5 minutes:</p>
          <p class="command"><code id="command"></code><button type="button" id="copy">Copy</button></p>
          <p class="soft">Request <code id="request"></code></p>
          <p class="soft">This page goes on by itself once that is done.</p>
        </section>
        <section id="trouble" hidden role="alert">
          <p id="trouble-text"></p>
          <button type="button" id="retry">Try again</button>
        </section>
        <div id="log" role="log" aria-live="polite" aria-label="Conversation" tabindex="0"></div>
        <form id="form">
          <label for="text" class="hidden">Message</label>
          <textarea
            id="text"
            rows="1"
            maxlength="8000"
            placeholder="Message, or /help"
            disabled
            enterkeyhint="send"
          ></textarea>
          <button type="submit" id="send" disabled>Send</button>
        </form>
        ${raw(SCRIPT_ELEMENT)}
      </body>
    </html>`;
}
