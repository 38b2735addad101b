import type { IconNode } from "lucide";
import more from "lucide/dist/esm/icons/ellipsis.mjs";
import edit from "lucide/dist/esm/icons/pencil.mjs";
import again from "lucide/dist/esm/icons/rotate-ccw.mjs";
import remove from "lucide/dist/esm/icons/x.mjs";

/**
 * Returns an element of the page by its id.
 *
 * @throws Error where the page has none, or one of another kind: page and script do not belong together.
 */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.querySelector(`#${id}`);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
}

/** Returns a new element with content, which is set as text, never as markup. */
export function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  content: readonly (Node | string)[],
  className = "",
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  fill(node, content);
  if (className !== "") node.className = className;
  return node;
}

/** Appends nodes one by one: spreading a long answer's nodes as arguments would overflow the stack. */
export function fill(parent: ParentNode, content: readonly (Node | string)[]): void {
  for (const part of content) parent.append(part);
}

/** Returns a button with a text. */
export function button(text: string, act: () => void): HTMLButtonElement {
  const node = made("button", [text]);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

const ICONS = { edit, again, remove, more };

/** Returns a button with an icon in place of a text. */
export function iconButton(icon: keyof typeof ICONS, label: string, act: () => void): HTMLButtonElement {
  const node = button("", act);
  node.title = label;
  node.setAttribute("aria-label", label);
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const nodes: IconNode = ICONS[icon];
  for (const [name, attributes] of nodes) {
    const shape = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, String(value));
    svg.append(shape);
  }
  node.append(svg);
  return node;
}
