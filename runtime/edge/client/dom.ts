import type { IconNode } from "lucide";
import more from "lucide/dist/esm/icons/ellipsis.mjs";
import edit from "lucide/dist/esm/icons/pencil.mjs";
import again from "lucide/dist/esm/icons/rotate-ccw.mjs";
import remove from "lucide/dist/esm/icons/x.mjs";

/**
 * Returns an element by its id.
 *
 * @throws Error if it is missing or has another type.
 */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.querySelector(`#${id}`);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
}

/**
 * Creates an element. Strings in its content are inserted as text, never as markup. If `properties` is a string, it
 * is the element's class.
 */
export function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  content: readonly (Node | string)[] = [],
  properties: Partial<HTMLElementTagNameMap[Name]> | string = {},
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  fill(node, content);
  return Object.assign(node, typeof properties === "string" ? { className: properties } : properties);
}

/** Appends nodes one by one: spreading many nodes as arguments would overflow the stack. */
export function fill(parent: ParentNode, content: readonly (Node | string)[]): void {
  for (const part of content) parent.append(part);
}

export function button(text: string, act: () => void): HTMLButtonElement {
  return made("button", [text], { type: "button", onclick: act });
}

const COPIED_MS = 2_000;
/** A box that is scrolled to within this many pixels of its end scrolls along with new content. */
const END_PX = 80;

/** Makes a button copy a string to the clipboard. The button then reads "Copied" for a moment. */
export function copies(node: HTMLButtonElement, text: () => string): void {
  node.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    node.textContent = "Copied";
    setTimeout(() => (node.textContent = "Copy"), COPIED_MS);
  });
}

/** Returns true if the end of a box's content is visible or almost visible. */
export function isAtEnd({ scrollHeight, scrollTop, clientHeight }: Element): boolean {
  return scrollHeight - scrollTop - clientHeight < END_PX;
}

/** Makes a dialog close when the user clicks outside it, in addition to the Escape key. Returns the dialog. */
export function overlay(dialog: HTMLDialogElement): HTMLDialogElement {
  // A click on the backdrop targets the dialog. Check where the press began: a text selection can end on the
  // backdrop.
  let isPressed = false;
  dialog.addEventListener("pointerdown", ({ target }) => (isPressed = target === dialog));
  dialog.addEventListener("click", ({ target }) => isPressed && target === dialog && dialog.close());
  return dialog;
}

/** Calls `act` on plain clicks on matching elements, including elements added later. Prevents the default action. */
export function onClick<Kind extends HTMLElement>(
  selector: string,
  kind: new () => Kind,
  act: (clicked: Kind) => void,
): void {
  document.addEventListener("click", (event) => {
    const { target, ctrlKey, metaKey, shiftKey, altKey } = event;
    const clicked = target instanceof Element ? target.closest(selector) : null;
    if (!(clicked instanceof kind) || ctrlKey || metaKey || shiftKey || altKey) return;
    event.preventDefault();
    act(clicked);
  });
}

const ICONS = { edit, again, remove, more };

const SVG = "http://www.w3.org/2000/svg";

export function iconButton(icon: keyof typeof ICONS, label: string, act: () => void): HTMLButtonElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.ariaHidden = "true";
  const shapes: IconNode = ICONS[icon];
  for (const [name, attributes] of shapes) {
    const shape = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, String(value));
    svg.append(shape);
  }
  return made("button", [svg], { type: "button", title: label, ariaLabel: label, onclick: act });
}
