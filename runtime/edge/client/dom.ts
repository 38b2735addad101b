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

/** Paths of the icons that scripts add, from Lucide (ISC licence, https://lucide.dev). */
const ICONS = {
  edit: "M12 20h9M16.5 3.5a2.12 2.12 0 0 1 3 3L7 19l-4 1 1-4Z",
  again: "M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8M3 3v5h5",
  remove: "M18 6 6 18M6 6l12 12",
  more: "M12 12h.01M19 12h.01M5 12h.01",
} as const;

/** Returns a button with an icon in place of a text. */
export function iconButton(icon: keyof typeof ICONS, label: string, act: () => void): HTMLButtonElement {
  const node = button("", act);
  node.title = label;
  node.setAttribute("aria-label", label);
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", ICONS[icon]);
  svg.append(path);
  node.append(svg);
  return node;
}
