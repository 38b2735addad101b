import type { Handler } from "hono";
import { html, raw } from "hono/html";
import { type ChatFileRequest, GATEWAY_ROUTES } from "../contract/control.ts";
import { CHAT_TITLE } from "../contract/chat.ts";
import { ROUTES } from "../contract/routes.ts";
import { bearerToken } from "../shared/token.ts";
import { CHAT_SCRIPT } from "./pages/scripts.ts";
import { hashSource, type Markup } from "./pages/layout.ts";
import type { Sandbox } from "./ports.ts";
import { sendProblem } from "./problems.ts";

/** Stylesheet of the chat page: light and dark, for phones and wider screens. */
const CHAT_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d9dce1, #3a3f47); --soft: light-dark(#5b6470, #a3acb8);
  --ok: light-dark(#1a7f4b, #4cc38a); --bad: light-dark(#b3261e, #ff8a80); --page: light-dark(#fbfbfc, #16181c);
  --own: light-dark(#e3ecfa, #22344f); --code: light-dark(#eff1f4, #1f2329); --accent: light-dark(#1f5fbf, #8ab8ff);
  --on-accent: light-dark(#fff, #10203a); --side: light-dark(#f3f4f6, #1b1e23);
  --word: light-dark(#9a2c7e, #e69ad2); --string: light-dark(#17663c, #7fd1a5); --number: light-dark(#8a4b00, #f0b072); }
* { box-sizing: border-box; }
[hidden], .hidden:not(:focus) { display: none; }
.hidden { position: absolute; }
body { margin: 0; height: 100dvh; display: flex; background: var(--page); font: 16px/1.5 system-ui, sans-serif; }
main { flex: 1; min-width: 0; display: flex; flex-direction: column; }
main > :not(header) { width: 100%; max-width: 48rem; margin-inline: auto; }
header { display: flex; align-items: center; gap: .75rem; padding: .6rem 1rem; border-bottom: 1px solid var(--line); min-height: 3.5rem; }
h1 { font-size: 1.05rem; margin: 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
h2 { font-size: 1.05rem; margin: 0 0 .25rem; } p { margin: .25rem 0; }
#state { margin: 0 0 0 auto; font-size: .9rem; color: var(--soft); text-align: right; }
#state::before { content: "●"; margin-right: .4rem; } #state[data-tone=ok]::before { color: var(--ok); }
#state[data-tone=bad]::before { color: var(--bad); }
a { color: var(--accent); } .soft { color: var(--soft); } .note { padding: 0 1rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
#sidebar { width: 17rem; flex: none; display: flex; flex-direction: column; gap: .5rem; padding: .6rem; background: var(--side);
  border-right: 1px solid var(--line); } #sidebar[hidden] { display: none; }
#sidebar input, dialog input { font: inherit; color: inherit; width: 100%; background: var(--page); border: 1px solid var(--line);
  border-radius: 8px; padding: .35rem .7rem; }
#conversations { list-style: none; margin: 0; padding: 0; overflow-y: auto; flex: 1; }
#conversations li { display: flex; align-items: center; } #conversations li > .soft { padding: .4rem; }
#conversations button { border-color: transparent; } #conversations button:first-child { flex: 1; min-width: 0; text-align: left;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } #conversations button .soft { display: block; font-size: .8rem;
  overflow: hidden; text-overflow: ellipsis; } #conversations [aria-current] { background: var(--own); }
#menu { display: none; }
@media (max-width: 820px) {
  #menu:not([hidden]) { display: block; } #sidebar { position: fixed; inset: 0 auto 0 0; z-index: 1; width: min(20rem, 85vw);
    box-shadow: 0 0 2rem #0006; } #sidebar.folded { display: none; }
}
section { margin: 1rem; padding: .75rem 1rem; border: 1px solid var(--line); border-left: 4px solid var(--accent);
  border-radius: 6px; } main > section:not(header) { width: auto; margin-inline: 1rem; }
#trouble { border-left-color: var(--bad); }
#code { display: block; font: 600 clamp(1.6rem, 7vw, 2.6rem)/1.2 ui-monospace, monospace; letter-spacing: .06em; margin: .5rem 0; }
.command { display: flex; gap: .75rem; align-items: center; justify-content: space-between; background: var(--code);
  border-radius: 6px; padding: .5rem .75rem; }
#log { flex: 1; overflow-y: auto; padding: 1rem; display: flex; flex-direction: column; gap: .75rem; }
article { max-width: 85%; overflow-wrap: anywhere; } article:not(.own) { width: fit-content; min-width: 0; }
article.own { align-self: flex-end; background: var(--own); border-radius: 12px; padding: .5rem .8rem; }
article.own.waiting { opacity: .75; outline: 1px dashed var(--soft); } article.own.waiting[data-time]::after { content: "Waiting"; }
article .part { white-space: pre-wrap; margin: 0; } article pre { white-space: pre; overflow-x: auto; margin: 0;
  padding: .6rem .8rem; font: .9em/1.45 ui-monospace, monospace; } article pre code { font: inherit; overflow-wrap: normal; }
article * + .part, article :is(ul, ol, .table) { margin: .4rem 0 0; } article :is(ul, ol) { padding-left: 1.4rem; }
article li { white-space: pre-wrap; } article :is(li, blockquote) > :is(ul, ol, .part) { margin: 0; } .task { list-style: none; margin-left: -1.2rem; }
article blockquote { margin: .4rem 0; padding-left: .7rem; border-left: 3px solid var(--line); } article hr { border: 0; border-top: 1px solid var(--line); }
article .table { overflow-x: auto; } table { border-collapse: collapse; } :is(th, td) { border: 1px solid var(--line);
  padding: .2rem .6rem; text-align: left; }
.code { background: var(--code); border-radius: 6px; margin: .4rem 0; overflow: hidden; } .bar { display: flex; align-items: center;
  justify-content: space-between; padding: .2rem .35rem .2rem .8rem; font-size: .8rem; color: var(--soft); border-bottom: 1px solid var(--line); }
.copy { padding: .1rem .5rem; font-size: .8rem; }
.hljs-comment, .hljs-quote, .hljs-meta { color: var(--soft); } .hljs-keyword, .hljs-selector-tag, .hljs-built_in, .hljs-name,
.hljs-tag, .hljs-type, .hljs-deletion { color: var(--word); } .hljs-string, .hljs-attr, .hljs-addition, .hljs-regexp,
.hljs-symbol { color: var(--string); } .hljs-number, .hljs-literal, .hljs-variable, .hljs-attribute { color: var(--number); }
.hljs-title, .hljs-section { color: var(--accent); }
article[data-time]::after { content: attr(data-time); display: block; font-size: .75rem; color: var(--soft); }
article > img, .files img { display: block; max-width: 100%; max-height: 24rem; margin: .4rem 0; border-radius: 6px; }
.files { display: flex; flex-wrap: wrap; gap: .4rem; align-items: end; } .files img { max-height: 10rem; } .file { font-size: .85rem; color: var(--soft); overflow-wrap: anywhere; }
.actions { display: flex; gap: .25rem; margin-top: .25rem; } .own .actions { justify-content: flex-end; }
svg { display: block; width: 1rem; height: 1rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
button:has(> svg) { padding: .5rem; border-color: transparent; color: var(--soft); }
.choices { display: flex; flex-wrap: wrap; gap: .5rem; }
article.failed { color: var(--bad); } article.busy::after { content: "…"; font-size: 1rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; padding: .75rem 1rem; border-top: 1px solid var(--line); }
dialog { color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 12px; width: min(24rem, 90vw); }
dialog::backdrop { background: #0006; } dialog form { border: 0; padding: 0; } #delete { margin-left: auto; color: var(--bad); }
textarea { flex: 1; min-width: 0; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: 8px; padding: .5rem .7rem; resize: none; max-height: 9rem; field-sizing: content; }
button { font: inherit; border: 1px solid var(--line); border-radius: 8px; padding: .35rem .8rem; background: transparent;
  color: inherit; cursor: pointer; } button.primary { background: var(--accent); color: var(--on-accent); border-color: transparent; }
#form > button { align-self: flex-end; padding: .5rem .9rem; } button:disabled, textarea:disabled { opacity: .5; cursor: default; }
#pictures, #editing { flex-basis: 100%; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } #pictures[hidden], #editing[hidden] { display: none; }
#pictures button { padding: .2rem .5rem; max-width: 100%; overflow-wrap: anywhere; } #pictures img { display: block; height: 3.5rem; max-width: 7rem; object-fit: cover; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
`;

// No whitespace between tags and content: the hashes in the policy would have to include it.
const STYLE_ELEMENT = `<style>${CHAT_STYLE}</style>`;
const SCRIPT_ELEMENT = `<script type="module">${CHAT_SCRIPT}</script>`;

/**
 * `GET /chat`: the page, identical for everyone. Like a visit to `/`, it wakes a sleeping container.
 *
 * @param sandbox The sandbox of all browsers; `undefined` if each has its own, which starts when its page is let in.
 */
export function chat(sandbox: Sandbox | undefined): Handler {
  return async function handleChat(context) {
    await sandbox?.wake("visitor");
    context.header("content-security-policy", await chatContentSecurityPolicy(new URL(context.req.url).host));
    return context.html(chatPage());
  };
}

/**
 * `GET /chat/socket` without an upgrade: refused with 426. WebSocket requests are handled by each platform before they
 * reach this app.
 */
export function chatSocket(): Handler {
  return function handleChatSocket() {
    return sendProblem("chat_upgrade_required");
  };
}

/** Formats of a page's ticket, with its device, and of an item's id: 32 and 16 random bytes. */
const TICKET = /^(?<device>[0-9a-f]{64})\.[\w-]{43}$/;
const ITEM = /^[\w-]{22}$/;
/**
 * Pictures that pages display. Other files are sent as plain bytes: an HTML or SVG file would run scripts on this
 * origin.
 */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Sandbox of a browser. */
type FileSandbox = Pick<Sandbox, "status" | "request">;

/**
 * `GET /chat/files/<item>`: a file that the assistant sent, for a connected page. The gateway checks the page's ticket.
 * Does not wake the container.
 */
export function chatFile(sandboxOf: (deviceId: string) => Promise<FileSandbox | undefined>): Handler {
  return async function handleChatFile(context) {
    const ticket = bearerToken(context.req.header("authorization")) ?? "";
    const item = context.req.param("item") ?? "";
    const device = TICKET.exec(ticket)?.groups?.["device"];
    const sandbox = device && ITEM.test(item) ? await sandboxOf(device) : undefined;
    if (!sandbox) return sendProblem("chat_file_refused");
    const { state, reason } = await sandbox.status();
    if (state !== "ready") return sendProblem("gateway_unavailable", reason?.detail);
    const body = JSON.stringify({ ticket, item } satisfies ChatFileRequest);
    const answer = await sandbox.request("gateway", { method: "POST", path: GATEWAY_ROUTES.chatFile, body });
    const mediaType = answer.headers.get("content-type") ?? "";
    const bytes = "application/octet-stream";
    const headers = {
      "cache-control": "no-store",
      "content-security-policy": "sandbox; default-src 'none'",
      "content-disposition": "attachment",
      "content-type": PICTURES.has(mediaType) ? mediaType : bytes,
    };
    if (answer.ok) return new Response(answer.body, { headers });
    await answer.body?.cancel();
    return sendProblem(answer.status === 404 ? "chat_file_unknown" : "chat_file_refused");
  };
}

/**
 * Returns the page's content security policy: its own script and style, and a socket to its own host. The socket's URL
 * is listed in addition to 'self', which older browsers apply to http only.
 */
async function chatContentSecurityPolicy(host: string): Promise<string> {
  const [script, style] = await Promise.all([hashSource(CHAT_SCRIPT), hashSource(CHAT_STYLE)]);
  return `default-src 'none'; script-src ${script}; style-src ${style}; connect-src 'self' ws://${host} wss://${host}; img-src data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`;
}

/** Renders the page of the web chat. It contains no data: the socket decides what it may see. */
function chatPage(): Markup {
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
        <nav id="sidebar" class="folded" aria-label="Conversations" hidden>
          <button type="button" id="new">New conversation</button>
          <input
            id="search"
            type="search"
            aria-label="Search conversations"
            placeholder="Search"
            maxlength="${CHAT_TITLE}"
          />
          <ul id="conversations"></ul>
        </nav>
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
              ☰
            </button>
            <h1 id="name">steward</h1>
            <p id="state" role="status" data-tone="wait">Connecting</p>
          </header>
          <noscript><p class="note">The chat needs JavaScript.</p></noscript>
          <section id="pairing" hidden aria-labelledby="pairing-title">
            <h2 id="pairing-title">Pair this browser</h2>
            <strong id="code"></strong>
            <p>
              The operator approves it on <a href="${ROUTES.devicesPage.path}">the Access page</a>, or runs
              this command within 5 minutes:
            </p>
            <p class="command"><code id="command"></code><button type="button" id="copy">Copy</button></p>
            <p class="soft">Request <code id="request"></code></p>
            <p class="soft">This page continues automatically afterwards.</p>
          </section>
          <section id="trouble" hidden role="alert">
            <p id="trouble-text"></p>
            <button type="button" id="retry">Try again</button>
          </section>
          <div id="log" role="log" aria-live="polite" aria-label="Conversation" tabindex="0"></div>
          <form id="form">
            <p id="editing" hidden>
              Editing your last message <button type="button" id="cancel">Cancel</button>
            </p>
            <div id="pictures" hidden></div>
            <input id="file" type="file" multiple hidden />
            <button type="button" id="add" aria-label="Add files" title="Add files" disabled>+</button>
            <label for="text" class="hidden">Message</label>
            <textarea
              id="text"
              rows="1"
              maxlength="8000"
              placeholder="Message, or /help"
              disabled
              enterkeyhint="send"
            ></textarea>
            <button type="button" id="stop" hidden>Stop</button>
            <button type="submit" id="send" class="primary" disabled>Send</button>
          </form>
        </main>
        <dialog id="manage" aria-labelledby="manage-title">
          <form method="dialog">
            <h2 id="manage-title">Rename or delete</h2>
            <input id="title" aria-label="Title" maxlength="${CHAT_TITLE}" />
            <button value="save" class="primary">Save</button>
            <button type="submit" value="">Cancel</button>
            <button type="button" id="delete">Delete</button>
          </form>
        </dialog>
        ${raw(SCRIPT_ELEMENT)}
      </body>
    </html>`;
}
