/** Search over pages, actions, people and conversations, in a dialog that Ctrl-K opens on every page. */
import { made } from "./dom.ts";

/** Between the last key and the search. */
const PAUSE_MS = 100;

const input = made("input", []);
const list = made("ul", []);
const told = made("p", [], "soft");
const dialog = made("dialog", [input, list, told], "palette");

/** As the server's search answers. */
type Found = [kind: string, title: string, href: string];

let asked: AbortController | undefined;
let timer = 0;
let chosen = 0;

function setUp(opener: HTMLAnchorElement): void {
  const attributes = {
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": "found",
    "aria-label": "Search",
    placeholder: "Pages, people, conversations, actions",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "100",
  };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  list.id = "found";
  list.role = "listbox";
  list.ariaLabel = "Results";
  told.role = "status";
  dialog.ariaLabel = "Search";
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
  // The dialog's own area is its edge: a click there, or on what it covers, closes it.
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
}

/** Marks a result, around the ends. */
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
    const response = await fetch(`${address}?${new URLSearchParams({ q: input.value })}`, {
      headers,
      signal,
    });
    show((await response.json()) as Found[]);
  } catch {
    if (!signal.aborted) told.textContent = "The search does not answer.";
  }
}

function show(found: readonly Found[]): void {
  const options = found.map(([kind, title, href], index) => {
    const link = made("a", [made("bdi", [title]), made("span", [kind], "soft")]);
    link.href = href;
    link.tabIndex = -1;
    const option = made("li", [link]);
    option.id = `found-${index}`;
    option.role = "option";
    return option;
  });
  list.replaceChildren(...options);
  told.textContent = found.length === 0 ? "Nothing has this name." : `${found.length} results`;
  choose(0);
}

/** Has the keyboard and the bar's link open the search. */
export function offerSearch(): void {
  const open = (event: Event, opener: HTMLAnchorElement): void => {
    event.preventDefault();
    if (!dialog.isConnected) setUp(opener);
    if (dialog.open) return dialog.close();
    dialog.showModal();
    input.select();
    void search(opener.href);
  };
  // The bar is replaced from time to time: its link is looked for when it is needed.
  document.addEventListener("keydown", (event) => {
    const opener = document.querySelector<HTMLAnchorElement>("a.find");
    const isShortcut =
      (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "k";
    if (isShortcut && opener !== null) open(event, opener);
  });
  document.addEventListener("click", (event) => {
    const { target, ctrlKey, metaKey } = event;
    const opener = target instanceof Element ? target.closest<HTMLAnchorElement>("a.find") : null;
    if (opener !== null && !ctrlKey && !metaKey) open(event, opener);
  });
}
