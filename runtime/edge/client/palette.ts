/** Search in a dialog that Ctrl-K opens on every page. */
import { made, onClick, overlay } from "./dom.ts";

/** Delay between the last keystroke and the search, in milliseconds. */
const PAUSE_MS = 100;

const input = made("input", [], {
  role: "combobox",
  ariaAutoComplete: "list",
  ariaExpanded: "true",
  ariaLabel: "Search",
  placeholder: "Pages, people, conversations, actions",
  autocomplete: "off",
  spellcheck: false,
  maxLength: 100,
});
const list = made("ul", [], { id: "found", role: "listbox", ariaLabel: "Results" });
const told = made("p", [], { className: "soft", role: "status" });
const dialog = overlay(made("dialog", [input, list, told], { className: "palette", ariaLabel: "Search" }));

type Found = [kind: string, title: string, href: string];

let asked: AbortController | undefined;
let timer = 0;
let chosen = 0;

function setUp(opener: HTMLAnchorElement): void {
  input.setAttribute("aria-controls", list.id);
  document.body.append(dialog);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void search(opener.href), PAUSE_MS);
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) choose(chosen + step);
    else if (event.key === "Enter" && !event.isComposing) list.children[chosen]?.querySelector("a")?.click();
    else return;
    event.preventDefault();
  });
}

function choose(index: number): void {
  const { length } = list.children;
  chosen = length === 0 ? 0 : (index + length) % length;
  for (const [at, option] of [...list.children].entries()) option.ariaSelected = String(at === chosen);
  input.setAttribute("aria-activedescendant", length === 0 ? "" : `found-${chosen}`);
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

async function search(address: string): Promise<void> {
  asked?.abort();
  const { signal } = (asked = new AbortController());
  try {
    const headers = { accept: "application/json" };
    const query = new URLSearchParams({ q: input.value });
    const response = await fetch(`${address}?${query}`, { headers, signal });
    show((await response.json()) as Found[]);
  } catch {
    if (!signal.aborted) told.textContent = "The search did not respond.";
  }
}

function show(found: readonly Found[]): void {
  const options = found.map(([kind, title, href], index) => {
    const content = [made("bdi", [title]), made("span", [kind], "soft")];
    const link = made("a", content, { href, tabIndex: -1 });
    return made("li", [link], { id: `found-${index}`, role: "option" });
  });
  list.replaceChildren(...options);
  const { length } = found;
  told.textContent = length === 0 ? "No results." : length === 1 ? "1 result" : `${length} results`;
  choose(0);
}

function open(opener: HTMLAnchorElement): void {
  if (!dialog.isConnected) setUp(opener);
  if (dialog.open) return dialog.close();
  dialog.showModal();
  input.select();
  void search(opener.href);
}

export function offerSearch(): void {
  onClick("a.find", HTMLAnchorElement, open);
  document.addEventListener("keydown", (event) => {
    // Look up the search link each time, because page updates replace it.
    const opener = document.querySelector<HTMLAnchorElement>("a.find");
    const { ctrlKey, metaKey, shiftKey, altKey, key } = event;
    if (opener === null || !(ctrlKey || metaKey) || shiftKey || altKey || key !== "k") return;
    event.preventDefault();
    open(opener);
  });
}
