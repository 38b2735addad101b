import { Hono } from "hono";
import { html, raw } from "hono/html";
import { streamSSE } from "hono/streaming";
import type { ShownMessage, PageTranscript } from "./transcript.ts";

/** Milliseconds for which changes are collected before the page is updated. */
const TOGETHER_MS = 50;

export interface Sent {
  text: string;
  place: string;
  /** Id of the thread's first message; `undefined` outside of threads. */
  thread: string | undefined;
  files: File[];
}

interface Place {
  value: string;
  label: string;
}

export interface PageOptions {
  platform: "Slack" | "Telegram" | "Discord";
  transcript: PageTranscript;
  /** Describes the stand-in's behaviour and the platform features that the stand-in lacks. */
  note(): string;
  /** Returns the ways to write to the bot: all, or those for the thread that starts with `root`. */
  places(root?: ShownMessage): readonly Place[];
  /** Returns the reason if sending is impossible. */
  say(sent: Sent): Promise<string | undefined> | string | undefined;
  press(id: string, label: string): Promise<unknown> | void;
  /** Addresses of all stand-ins by platform. The object is filled after all have started. */
  links: Readonly<Record<string, string>>;
}

const STYLE = `:root { color-scheme: light dark; --line: #8884; --bot: #3b82f61f; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 0 1rem 3rem; }
nav { display: flex; gap: 1rem; padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
form.say { position: sticky; top: 0; padding: 0.75rem 0; background: Canvas; }
input[name="text"] { flex: 1 1 16rem; }
input, select, button { font: inherit; padding: 0.4rem; }
h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
article { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.4rem 0.75rem; margin: 0.4rem 0; }
article.bot { background: var(--bot); }
article p { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.thread { margin-left: 1.5rem; }
small, .soft { opacity: 0.75; }
#problem:not(:empty) { border-left: 3px solid #d97706; padding-left: 0.5rem; }`;

const SCRIPT = `const conversation = document.getElementById("conversation");
const problem = document.getElementById("problem");
const live = new EventSource("live");
live.onmessage = ({ data }) => { conversation.innerHTML = data; };
addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const body = new FormData(form, event.submitter);
  if (form.matches(".say")) form.elements.text.value = form.elements.files.value = "";
  const answer = await fetch(form.action, { method: "POST", body });
  problem.textContent = answer.ok ? "" : await answer.text();
});`;

/**
 * Serves a page that shows a stand-in's chats and has a form for writing to the bot. With JavaScript, the page
 * updates live.
 */
export function standInPage(options: PageOptions): Hono {
  const { platform, transcript } = options;
  const routes = new Hono();
  routes.get("/", (context) => context.html(document(options, context.req.query("thread"))));
  routes.get("/live", (context) =>
    streamSSE(context, async (events) => {
      const aborted = new Promise<void>((resolve) => events.onAbort(resolve));
      while (!events.aborted) {
        const { version } = transcript;
        await events.writeSSE({ data: String(await conversation(transcript)) });
        await Promise.race([transcript.after(version), aborted]);
        await events.sleep(TOGETHER_MS);
      }
    }),
  );
  routes.post("/say", async (context) => {
    const form = await context.req.formData();
    const text = (name: string): string => String(form.get(name) ?? "");
    const files = form.getAll("files").filter((file) => file instanceof File && file.size > 0) as File[];
    const thread = text("thread") || undefined;
    const places = options.places(transcript.messages().find(({ id }) => id === thread));
    const place = text("place") || (places[0]?.value ?? "");
    if (text("text") === "" && files.length === 0)
      return context.text("Write something, or add a file.", 400);
    const sent = { text: text("text"), place, thread, files };
    const refused = await options.say(sent);
    return refused === undefined ? context.redirect("/", 303) : context.text(refused, 409);
  });
  routes.post("/press", async (context) => {
    const form = await context.req.formData();
    const [id, label] = [String(form.get("id")), String(form.get("label"))];
    const found = transcript.messages().find((message) => message.id === id);
    if (!found?.buttons?.includes(label)) return context.text(`${platform} shows no such button.`, 404);
    await options.press(id, label);
    return context.redirect("/", 303);
  });
  return routes;
}

function document({ platform, transcript, links, ...options }: PageOptions, thread: string | undefined) {
  const title = `${platform} stand-in`;
  const root = transcript.messages().find(({ id }) => id === thread);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <nav aria-label="Stand-ins">
          ${Object.entries(links).map(([name, url]) =>
            name === platform
              ? html`<strong aria-current="page">${name}</strong>`
              : html`<a href="${url}/">${name}</a>`,
          )}
        </nav>
        <main>
          <h1>${title}</h1>
          <p class="soft">Not ${platform}: a stand-in of the rehearsal. ${options.note()}</p>
          <form class="say" method="post" action="/say" enctype="multipart/form-data">
            <input
              name="text"
              aria-label="Message"
              placeholder="Write to steward"
              autocomplete="off"
              autofocus
            />
            <select name="place" aria-label="Place">
              ${options.places(root).map(({ value, label }) => html`<option value="${value}">${label}</option>`)}
            </select>
            <input type="file" name="files" multiple aria-label="Files" />
            <button>Send</button>
            ${
              thread === undefined
                ? ""
                : html`<input type="hidden" name="thread" value="${thread}" />
                    <small>in a thread · <a href="/">leave thread</a></small>`
            }
          </form>
          <p id="problem" role="status"></p>
          <div id="conversation" role="log">${conversation(transcript)}</div>
        </main>
        <script>
          ${raw(SCRIPT)};
        </script>
      </body>
    </html>`;
}

function conversation(transcript: PageTranscript) {
  const messages = transcript.messages();
  const places = [...new Set(messages.map(({ place }) => place))];
  const one = (message: ShownMessage) => article(message, transcript.reactionsOf(message.id));
  if (messages.length === 0) return html`<p class="soft">Nothing has been written yet.</p>`;
  return html`${places.map((place) => {
    const here = messages.filter((message) => message.place === place);
    const ids = new Set(here.map(({ id }) => id));
    const isRoot = ({ thread, id }: ShownMessage): boolean =>
      thread === undefined || thread === id || !ids.has(thread);
    return html`<section>
      <h2>${place}</h2>
      ${here.filter(isRoot).map((root) => {
        const replies = here.filter((reply) => !isRoot(reply) && reply.thread === root.id);
        return html`${one(root)}${replies.length === 0 ? "" : html`<div class="thread">${replies.map(one)}</div>`}`;
      })}
    </section>`;
  })}`;
}

function article(message: ShownMessage, reactions: readonly string[]) {
  const { id, author, fromBot, text, edits = 0, files = [], buttons = [], note, startsThread } = message;
  return html`<article class="${fromBot ? "bot" : "person"}">
    <strong>${author}</strong>
    ${edits > 0 ? html`<small>edited ${edits === 1 ? "once" : `${edits} times`}</small>` : ""}
    ${note === undefined ? "" : html`<small>${note}</small>`} ${text === "" ? "" : html`<p>${text}</p>`}
    ${files.map((name) => html`<p>File: ${name}</p>`)}
    ${
      buttons.length === 0
        ? ""
        : html`<form method="post" action="/press">
            <input type="hidden" name="id" value="${id}" />
            ${buttons.map((label) => html`<button name="label" value="${label}">${label}</button>`)}
          </form>`
    }
    ${reactions.length === 0 ? "" : html`<p>${reactions.join(" ")}</p>`}
    ${startsThread === true ? html`<small><a href="/?thread=${encodeURIComponent(id)}">Reply in thread</a></small>` : ""}
  </article>`;
}
