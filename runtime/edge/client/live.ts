/**
 * Script of the admin pages: updates a page after a change, but preserves form input, selections and open sections.
 */
import { RELOAD_CHANGE, RELOAD_HEADER } from "../../contract/client.ts";
import { button, element, made, onClick, overlay } from "./dom.ts";
import { offerSearch } from "./palette.ts";

/** Interval of page updates if nothing changes, in milliseconds. Updates keep the displayed ages current. */
const AT_LEAST_EVERY_MS = 60_000;
/** Interval of page updates while no stream reports changes, in milliseconds. */
const ASK_EVERY_MS = 10_000;
const TICK_MS = 250;
const PAUSE_MS = 750;
/** Milliseconds until a notice disappears. The notice stays while it is hovered or focused. */
const NOTICE_MS = 10_000;

const COPIED_MS = 1_500;

const content = element("content", HTMLElement);
/** True if updates may replace the page's content, not only its bars. False for pages with an editor. */
const isLive = document.body.dataset["live"] !== undefined;
const FRAME = [".bar", ".side"];
/** Selects the focused element. Excludes a link that was clicked, because its focus is invisible. */
const FOCUSED = ":focus:not(a:not(:focus-visible))";

let { revision } = document.body.dataset;
let loadedAt = Date.now();
let loading = false;
let changed = false;
/** True if the last update did not replace the content because the user was using it. */
let stale = false;

/** Returns the page's address without the parameters that report the result of the last button press. */
function address(): string {
  const url = new URL(location.href);
  url.searchParams.delete("done");
  url.searchParams.delete("problem");
  return `${url.pathname}${url.search}`;
}

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
  // Replacing the content would remove the editor and its text.
  const isEdited = content.querySelector(".editor") !== null;
  return isEdited || isFilled || isChosen || isFocused || String(getSelection()) !== "";
}

function replaceContent(next: Document): void {
  const opened = [...content.querySelectorAll("details[open] > summary")];
  const open = opened.map(({ textContent }) => textContent);
  stale = isLive && isInUse();
  for (const selector of isLive && !stale ? ["#content", ...FRAME] : FRAME) {
    const old = document.querySelector(selector);
    const now = next.querySelector(selector);
    // Keep an element that contains the keyboard focus. On a phone, also keep the open navigation.
    const isHeld = old?.matches(`:has(${FOCUSED}, #menu:checked)`);
    if (old && now && !isHeld && old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
  }
  for (const summary of content.querySelectorAll("summary")) {
    if (open.includes(summary.textContent)) summary.parentElement?.setAttribute("open", "");
  }
  document.title = next.title;
  fillZones();
}

/** Fills empty time zone fields with the browser's zone. Sets only the default: a value would count as an edit. */
function fillZones(): void {
  for (const field of content.querySelectorAll<HTMLInputElement>("input[data-zone]"))
    field.defaultValue ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Loads a page without accepting `text/html`, so that the request does not wake the container. */
async function loadPage(
  href: string,
  look = "1",
  redirect: RequestRedirect = "follow",
): Promise<Document | undefined> {
  const response = await fetch(href, { headers: { accept: "*/*", [RELOAD_HEADER]: look }, redirect });
  return response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : undefined;
}

async function load(isTold: boolean): Promise<void> {
  loadedAt = Date.now();
  const next = await loadPage(address(), isTold ? RELOAD_CHANGE : undefined);
  if (next === undefined) return;
  revision = next.body.dataset["revision"];
  replaceContent(next);
}

function look(): void {
  const age = Date.now() - loadedAt;
  const isBehind = changed || (stale && !isInUse());
  // A background tab still updates once a minute, so that its title stays current.
  const isDue = isBehind && !document.hidden ? age >= PAUSE_MS : age >= AT_LEAST_EVERY_MS;
  if (!isDue || loading) return;
  loading = true;
  void load(changed)
    .catch(() => undefined)
    .finally(() => (loading = false));
  changed = false;
}

function onChange(): void {
  changed = true;
  look();
}

let stream: EventSource | undefined;
/** Subscribes to changes since the page's revision while the page is visible. */
function follow(): void {
  if (document.hidden) stream?.close();
  stream = document.hidden ? undefined : new EventSource(`/_admin/api/changes?since=${revision}`);
  stream?.addEventListener("change", onChange);
}

/** Removes a notice after a delay, unless it is hovered or focused. */
function dismiss(notice: Element): void {
  setTimeout(() => {
    notice.querySelector("form")?.remove();
    if (notice.matches(":hover, :focus-within")) dismiss(notice);
    else notice.remove();
  }, NOTICE_MS);
}

async function copy(button: HTMLButtonElement): Promise<void> {
  // A focused button would block updates of the page.
  button.blur();
  await navigator.clipboard.writeText(button.value);
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), COPIED_MS);
}

const drawer = overlay(made("dialog", [], "drawer"));
let opener: HTMLAnchorElement | undefined;

/** Opens a link's page in the drawer. If that fails, for example after sign-out, follows the link instead. */
async function showInDrawer(link: HTMLAnchorElement): Promise<void> {
  opener = link;
  const page = await loadPage(link.href, undefined, "error").catch(() => undefined);
  // Another link was clicked while the page loaded.
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

// An update may have replaced the link that opened the drawer, so find the new link by its address.
drawer.addEventListener("close", () => {
  const links = content.querySelectorAll<HTMLAnchorElement>("a[data-drawer]");
  [...links].find(({ href }) => href === opener?.href)?.focus();
});
onClick("a[data-drawer]", HTMLAnchorElement, (link) => void showInDrawer(link));

// The clipboard is unavailable on plain HTTP.
if ("clipboard" in navigator) {
  document.documentElement.classList.add("copies");
  onClick("button.copy", HTMLButtonElement, (button) => void copy(button));
}

fillZones();
history.replaceState(null, "", address() + location.hash);
document.querySelectorAll(".toast").forEach(dismiss);
document.addEventListener("visibilitychange", () => {
  follow();
  onChange();
});
offerSearch();
setInterval(look, TICK_MS);
setInterval(() => {
  if (stream?.readyState !== EventSource.OPEN) changed = true;
}, ASK_EVERY_MS);
follow();
