/**
 * Script of the admin pages: loads the page again when something has changed, and puts its content in place. What
 * somebody fills in, reads by selection or has opened stays as it is. Without the script a page is loaded again by hand.
 */
import { LOOK_AFTER_CHANGE, LOOK_HEADER } from "../../contract/client.ts";
import { button, element, made, onClick, overlay } from "./dom.ts";
import { offerSearch } from "./palette.ts";

/** The server tells of changes; ages in words are brought up to date this often. */
const AT_LEAST_EVERY_MS = 60_000;
/** Without a stream of changes. */
const ASK_EVERY_MS = 10_000;
const TICK_MS = 250;
/** Between two loads, however much changes. */
const PAUSE_MS = 750;
/** A notice stays so long, if nobody points at it. */
const NOTICE_MS = 10_000;

const COPIED_MS = 1_500;

const content = element("content", HTMLElement);
/** Pages without it show something that a reload would drop, such as an editor: only their frame is kept up to date. */
const isLive = document.body.dataset["live"] !== undefined;
const FRAME = [".bar", ".side"];
/** A link that was clicked keeps the focus, which nobody sees. */
const FOCUSED = ":focus:not(a:not(:focus-visible))";

let loadedAt = Date.now();
let loading = false;
let changed = false;
/** The content was in use when the rest of the page was brought up to date. */
let stale = false;

/** The page's address without the outcome of the last button. */
function address(): string {
  const url = new URL(location.href);
  url.searchParams.delete("done");
  url.searchParams.delete("problem");
  return `${url.pathname}${url.search}`;
}

/** Returns true if a reload of the content would lose something: a field that was filled in, a selection, the focus. */
function isInUse(): boolean {
  const fields = content.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea");
  const isFilled = [...fields].some((field) =>
    field instanceof HTMLInputElement && (field.type === "radio" || field.type === "checkbox")
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue,
  );
  const choices = [...content.querySelectorAll("option")];
  const isChosen = choices.some(({ selected, defaultSelected }) => defaultSelected && !selected);
  const isFocused = content.querySelector(FOCUSED) !== null;
  // An editor keeps the text, and a page that is put in place would have none.
  const isEdited = content.querySelector(".editor") !== null;
  return isEdited || isFilled || isChosen || isFocused || String(getSelection()) !== "";
}

function put(next: Document): void {
  const opened = [...content.querySelectorAll("details[open] > summary")];
  const open = opened.map(({ textContent }) => textContent);
  stale = isLive && isInUse();
  for (const selector of isLive && !stale ? ["#content", ...FRAME] : FRAME) {
    const old = document.querySelector(selector);
    const now = next.querySelector(selector);
    // The keyboard focus stays in place, and so does the phone's open navigation.
    const isHeld = old?.matches(`:has(${FOCUSED}, #menu:checked)`);
    if (old && now && !isHeld && old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
  }
  for (const summary of content.querySelectorAll("summary")) {
    if (open.includes(summary.textContent)) summary.parentElement?.setAttribute("open", "");
  }
  document.title = next.title;
  fillZones();
}

/** A time zone that nobody has chosen is the browser's. It does not count as filled in. */
function fillZones(): void {
  for (const field of content.querySelectorAll<HTMLInputElement>("input[data-zone]"))
    field.defaultValue ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Asks for a page as a program does: a look that nobody asked for wakes no container. */
async function loadPage(
  href: string,
  look = "1",
  redirect: RequestRedirect = "follow",
): Promise<Document | undefined> {
  const response = await fetch(href, { headers: { accept: "*/*", [LOOK_HEADER]: look }, redirect });
  return response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : undefined;
}

async function load(isTold: boolean): Promise<void> {
  loadedAt = Date.now();
  const next = await loadPage(address(), isTold ? LOOK_AFTER_CHANGE : undefined);
  if (next !== undefined) put(next);
}

function look(): void {
  const age = Date.now() - loadedAt;
  const isBehind = changed || (stale && !isInUse());
  // A tab in the background keeps its title up to date, at leisure.
  const isDue = isBehind && !document.hidden ? age >= PAUSE_MS : age >= AT_LEAST_EVERY_MS;
  if (!isDue || loading) return;
  loading = true;
  void load(changed)
    .catch(() => undefined)
    .finally(() => (loading = false));
  changed = false;
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

/** Takes a notice away after a while, unless somebody points at it or is in it. Its button does nothing by then. */
function dismiss(notice: Element): void {
  setTimeout(() => {
    notice.querySelector("form")?.remove();
    if (notice.matches(":hover, :focus-within")) dismiss(notice);
    else notice.remove();
  }, NOTICE_MS);
}

/** Copies an id, and shows for a moment that it has. */
async function copy(button: HTMLButtonElement): Promise<void> {
  // The focus would keep the page as it is.
  button.blur();
  await navigator.clipboard.writeText(button.value);
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), COPIED_MS);
}

const drawer = overlay(made("dialog", [], "drawer"));
let opener: HTMLAnchorElement | undefined;

/** Shows the page of a link beside this one. The link is followed where that fails, such as after a sign-out. */
async function showBeside(link: HTMLAnchorElement): Promise<void> {
  opener = link;
  const page = await loadPage(link.href, undefined, "error").catch(() => undefined);
  // Another link was clicked meanwhile.
  if (opener !== link) return;
  const main = page?.querySelector("main");
  const heading = main?.querySelector("h1");
  if (!main || !heading) return location.assign(link.href);
  const head = made("header", [heading, button("Close", () => drawer.close())]);
  drawer.ariaLabel = heading.textContent;
  drawer.replaceChildren(made("div", [head, ...main.childNodes]));
  document.body.append(drawer);
  drawer.showModal();
}

// The list may have been loaded again meanwhile, with the same links.
drawer.addEventListener("close", () => {
  const links = content.querySelectorAll<HTMLAnchorElement>("a[data-drawer]");
  [...links].find(({ href }) => href === opener?.href)?.focus();
});
onClick("a[data-drawer]", HTMLAnchorElement, (link) => void showBeside(link));

// Absent on an address without TLS.
if ("clipboard" in navigator) {
  document.documentElement.classList.add("copies");
  onClick("button.copy", HTMLButtonElement, (button) => void copy(button));
}

fillZones();
history.replaceState(null, "", address() + location.hash);
document.querySelectorAll(".toast").forEach(dismiss);
document.addEventListener("visibilitychange", () => {
  follow();
  tell();
});
offerSearch();
setInterval(look, TICK_MS);
setInterval(() => {
  if (stream?.readyState !== EventSource.OPEN) changed = true;
}, ASK_EVERY_MS);
follow();
