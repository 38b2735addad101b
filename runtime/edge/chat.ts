import type { Handler } from "hono";
import { html, raw } from "hono/html";
import { type ChatFileRequest, GATEWAY_ROUTES } from "../contract/control.ts";
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
  --on-accent: light-dark(#fff, #10203a); }
* { box-sizing: border-box; }
[hidden], .hidden:not(:focus) { display: none; }
.hidden { position: absolute; }
body { margin: 0 auto; max-width: 46rem; height: 100dvh; display: flex; flex-direction: column; background: var(--page);
  font: 16px/1.5 system-ui, sans-serif; }
header { display: flex; align-items: baseline; gap: 1rem; padding: .75rem 1rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0 0 .25rem; } p { margin: .25rem 0; }
#state { margin: 0 0 0 auto; font-size: .9rem; color: var(--soft); }
#state::before { content: "●"; margin-right: .4rem; } #state[data-tone=ok]::before { color: var(--ok); }
#state[data-tone=bad]::before { color: var(--bad); }
a { color: var(--accent); } .soft { color: var(--soft); } .note { padding: 0 1rem; } code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
section { margin: 1rem; padding: .75rem 1rem; border: 1px solid var(--line); border-left: 4px solid var(--accent);
  border-radius: 6px; }
#trouble { border-left-color: var(--bad); }
.command { display: flex; gap: .75rem; align-items: center; justify-content: space-between; background: var(--code);
  border-radius: 6px; padding: .5rem .75rem; }
#log { flex: 1; overflow-y: auto; padding: 1rem; display: flex; flex-direction: column; gap: .75rem; }
article { max-width: 85%; overflow-wrap: anywhere; } article.own { align-self: flex-end; background: var(--own);
  border-radius: 12px; padding: .5rem .8rem; } article.own.waiting { opacity: .65; }
article .part { white-space: pre-wrap; margin: 0; } article pre { white-space: pre; overflow-x: auto; background: var(--code);
  border-radius: 6px; padding: .6rem .8rem; margin: .4rem 0; font: .9em/1.45 ui-monospace, monospace; }
article * + .part, article :is(ul, ol, .table) { margin: .4rem 0 0; } article :is(ul, ol) { padding-left: 1.4rem; }
article li { white-space: pre-wrap; } article :is(li, blockquote) > :is(ul, ol, .part) { margin: 0; } .task { list-style: none; margin-left: -1.2rem; }
article blockquote { margin: .4rem 0; padding-left: .7rem; border-left: 3px solid var(--line); } article hr { border: 0; border-top: 1px solid var(--line); }
article .table { overflow-x: auto; } table { border-collapse: collapse; } :is(th, td) { border: 1px solid var(--line);
  padding: .2rem .6rem; text-align: left; } .code { position: relative; } .copy { position: absolute; top: .35rem;
  right: .35rem; padding: .1rem .5rem; font-size: .8rem; background: var(--page); }
article[data-time]::after { content: attr(data-time); display: block; font-size: .75rem; color: var(--soft); }
article > img { display: block; max-width: 100%; max-height: 24rem; margin: .4rem 0; border-radius: 6px; }
.choices { display: flex; flex-wrap: wrap; gap: .5rem; }
article.failed { color: var(--bad); } article.busy::after { content: "…"; font-size: 1rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; padding: .75rem 1rem; border-top: 1px solid var(--line); }
textarea { flex: 1; min-width: 0; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: 8px; padding: .5rem .7rem; resize: none; max-height: 9rem; field-sizing: content; }
button { font: inherit; border: 1px solid var(--line); border-radius: 8px; padding: .35rem .8rem; background: transparent;
  color: inherit; cursor: pointer; } #send { background: var(--accent); color: var(--on-accent); border-color: transparent;
  align-self: flex-end; padding: .5rem 1rem; } #stop { align-self: flex-end; padding: .5rem 1rem; } button:disabled, textarea:disabled { opacity: .5; cursor: default; }
#add { align-self: flex-end; padding: .5rem .9rem; } #pictures { flex-basis: 100%; display: flex; gap: .5rem; }
#pictures[hidden] { display: none; } #pictures button { padding: .2rem; } #pictures img { display: block; height: 3.5rem; max-width: 7rem; object-fit: cover; }
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
        <header>
          <h1>steward</h1>
          <p id="state" role="status" data-tone="wait">Connecting</p>
        </header>
        <noscript><p class="note">The chat needs JavaScript.</p></noscript>
        <section id="pairing" hidden aria-labelledby="pairing-title">
          <h2 id="pairing-title">Pair this browser</h2>
          <p>
            The operator approves it on <a href="${ROUTES.devicesPage.path}">the Access page</a>, or runs this
            command within 5 minutes:
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
          <div id="pictures" hidden></div>
          <input id="file" type="file" accept="image/*" multiple hidden />
          <button type="button" id="add" aria-label="Add pictures" title="Add pictures" disabled>+</button>
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
          <button type="submit" id="send" disabled>Send</button>
        </form>
        ${raw(SCRIPT_ELEMENT)}
      </body>
    </html>`;
}
