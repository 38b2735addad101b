import { html } from "hono/html";
import { CHAT_TITLE } from "../../contract/chat.ts";
import { ROUTES } from "../../contract/routes.ts";
import { assetPath } from "../assets.ts";
import type { Markup } from "./document.tsx";
import { Icon } from "./icons.tsx";

/** Window colours of the installed web app; equal to `--page` in tokens.css. */
const FRAME = { light: "#f6f7f9", dark: "#111317" };

/** Renders the chat page. It contains no data, because access is checked when its WebSocket connects. */
export function ChatPage(): Markup {
  return html`<!doctype html>${(
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta
            name="viewport"
            content="width=device-width, initial-scale=1, interactive-widget=resizes-content"
          />
          <meta name="theme-color" media="(prefers-color-scheme: light)" content={FRAME.light} />
          <meta name="theme-color" media="(prefers-color-scheme: dark)" content={FRAME.dark} />
          <title>steward chat</title>
          <link rel="manifest" href={ROUTES.chatManifest.path} />
          <link rel="icon" href={assetPath("icon.svg")} />
          <link rel="apple-touch-icon" href={assetPath("icon.png")} />
          <link rel="stylesheet" href={assetPath("chat.css")} />
          <script type="module" src={assetPath("chat.js")}></script>
        </head>
        <body data-socket={ROUTES.chatSocket.path}>
          <Sidebar />
          <main>
            <header>
              <button
                type="button"
                id="menu"
                aria-label="Conversations"
                aria-controls="sidebar"
                aria-expanded="false"
                hidden
              >
                <Icon name="menu" />
              </button>
              <h1 id="name">steward</h1>
              <p id="state" role="status" data-tone="wait">
                Connecting
              </p>
            </header>
            <noscript>
              <p class="note">The chat needs JavaScript.</p>
            </noscript>
            <Pairing />
            <section id="trouble" hidden role="alert">
              <p id="trouble-text"></p>
              <button type="button" id="retry">
                Try again
              </button>
            </section>
            <div id="log" role="log" aria-live="polite" aria-label="Conversation" tabindex={0}></div>
            <Composer />
          </main>
          <dialog id="manage" aria-labelledby="manage-title">
            <form method="dialog">
              <h2 id="manage-title">Rename or delete</h2>
              <input id="title" aria-label="Title" maxlength={CHAT_TITLE} />
              <button type="submit" value="save" class="primary">
                Save
              </button>
              <button type="submit" value="">
                Cancel
              </button>
              <button type="button" id="delete">
                Delete
              </button>
            </form>
          </dialog>
        </body>
      </html>
    )}`;
}

function Sidebar(): Markup {
  return (
    <nav id="sidebar" class="folded" aria-label="Conversations" hidden>
      <button type="button" id="new">
        New conversation
      </button>
      <input
        id="search"
        type="search"
        aria-label="Search conversations"
        placeholder="Search"
        maxlength={CHAT_TITLE}
      />
      <ul id="conversations"></ul>
    </nav>
  );
}

/**
 * Shows an unknown browser how to request access. The page's script adds the pairing code to the Access page's link.
 */
function Pairing(): Markup {
  return (
    <section id="pairing" hidden aria-labelledby="pairing-title">
      <h2 id="pairing-title">Pair this browser</h2>
      <strong id="code"></strong>
      <p>
        The operator approves it on{" "}
        <a id="approval" href={ROUTES.devicesPage.path}>
          the Access page
        </a>
        , or runs this command within 5 minutes:
      </p>
      <p class="command">
        <code id="command"></code>
        <button type="button" id="copy">
          Copy
        </button>
      </p>
      <p class="soft">
        Request <code id="request"></code>
      </p>
      <p class="soft">This page continues automatically afterwards.</p>
    </section>
  );
}

function Composer(): Markup {
  return (
    <form id="form">
      <p id="editing" hidden>
        Editing your last message{" "}
        <button type="button" id="cancel">
          Cancel
        </button>
      </p>
      <div id="pictures" hidden></div>
      <input id="file" type="file" multiple hidden />
      <button type="button" id="add" aria-label="Add files" title="Add files" disabled>
        +
      </button>
      <label for="text" class="hidden">
        Message
      </label>
      <textarea
        id="text"
        rows={1}
        maxlength={8000}
        placeholder="Message, or /help"
        disabled
        enterkeyhint="send"
      ></textarea>
      <button type="button" id="stop" hidden>
        Stop
      </button>
      <button type="submit" id="send" class="primary" disabled>
        Send
      </button>
    </form>
  );
}

export function chatManifest() {
  return {
    name: "steward chat",
    short_name: "steward",
    id: ROUTES.chat.path,
    start_url: ROUTES.chat.path,
    scope: ROUTES.chat.path,
    display: "standalone",
    background_color: FRAME.light,
    theme_color: FRAME.light,
    icons: [
      { src: assetPath("icon.svg"), sizes: "any", type: "image/svg+xml" },
      { src: assetPath("icon.png"), sizes: "512x512", type: "image/png", purpose: "any maskable" },
    ],
  };
}
