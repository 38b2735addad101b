/**
 * Script of the admin pages: loads the page again when something has changed, and puts its content in place. What
 * somebody fills in, reads by selection or has opened stays as it is. Without the script a page is loaded again by hand.
 */
import { LOOK_HEADER } from "../../contract/client.ts";
import { element } from "./dom.ts";

/** The server tells of changes; ages in words are brought up to date this often. */
const AT_LEAST_EVERY_MS = 60_000;
/** Without a stream of changes. */
const ASK_EVERY_MS = 10_000;
const SHORTEST_MS = 1_000;
/** Between two loads, however much changes. */
const PAUSE_MS = 3_000;
/** A notice stays readable for so long. */
const NOTICE_MS = 15_000;
const PARTS = ["#content", ".shell > header", ".side"];

const content = element("content", HTMLElement);
const began = Date.now();
let loadedAt = began;
let loading = false;
let changed = false;

/** The page's address without the message of the button before. */
function address(): string {
  const url = new URL(location.href);
  url.searchParams.delete("done");
  url.searchParams.delete("problem");
  return `${url.pathname}${url.search}`;
}

/** Tells whether somebody would lose something: a field that was filled in, a selection, an opened menu. */
function isInUse(): boolean {
  const fields = content.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea");
  const isFilled = [...fields].some((field) =>
    field instanceof HTMLInputElement && (field.type === "radio" || field.type === "checkbox")
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue,
  );
  const choices = [...content.querySelectorAll("option")];
  const isChosen = choices.some(({ selected, defaultSelected }) => defaultSelected && !selected);
  const isFocused = content.contains(document.activeElement) && document.activeElement !== content;
  return isFilled || isChosen || isFocused || String(getSelection()) !== "";
}

function opened(): string[] {
  return [...content.querySelectorAll("details[open] > summary")].map(({ textContent }) => textContent);
}

function put(next: Document): void {
  const open = opened();
  const notice = Date.now() - began < NOTICE_MS ? content.querySelector(":scope > .done") : null;
  for (const selector of PARTS) {
    const old = document.querySelector(selector);
    const now = next.querySelector(selector);
    // The keyboard focus stays in place.
    const isHeld = old?.matches(":has(:focus)");
    if (old && now && !isHeld && old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
  }
  for (const summary of content.querySelectorAll("summary")) {
    if (open.includes(summary.textContent)) summary.parentElement?.setAttribute("open", "");
  }
  if (notice) content.querySelector("h1")?.after(notice);
  document.title = next.title;
}

/** Asks for the page as a program does: a look that nobody asked for wakes no container. */
async function load(): Promise<void> {
  loadedAt = Date.now();
  const response = await fetch(address(), { headers: { accept: "*/*", [LOOK_HEADER]: "1" } });
  if (!response.ok) return;
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  if (!isInUse()) put(next);
}

function look(): void {
  const age = Date.now() - loadedAt;
  const isDue = changed ? age >= PAUSE_MS : age >= AT_LEAST_EVERY_MS;
  if (!isDue || document.hidden || loading || isInUse()) return;
  loading = true;
  changed = false;
  void load()
    .catch(() => undefined)
    .finally(() => {
      loading = false;
    });
}

function tell(): void {
  changed = true;
  look();
}

let stream: EventSource | undefined;
/** Follows the changes while somebody sees the page. */
function follow(): void {
  if (document.hidden) stream?.close();
  stream = document.hidden ? undefined : new EventSource("/_admin/api/changes");
  stream?.addEventListener("change", tell);
}

history.replaceState(null, "", address() + location.hash);
document.addEventListener("visibilitychange", () => {
  follow();
  tell();
});
setInterval(look, SHORTEST_MS);
setInterval(() => {
  if (stream?.readyState !== EventSource.OPEN) changed = true;
}, ASK_EVERY_MS);
follow();
