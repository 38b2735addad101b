/**
 * Renders Markdown that the gateway has parsed. Content is inserted as text and links must be http or https, so an
 * answer cannot inject markup.
 */

import type { Block, Inline, Item } from "../../contract/markdown.ts";
import { copies, fill, made } from "./dom.ts";

/** Matches a code fence that fills a line. Lines are separated by line feeds only. */
const FENCE = /(?<![^\n])```([\w+#.-]*)[ \t]*(?![^\n])/;
const WEB = /^https?:\/\/./;
const LONGEST_COLOURED = 50_000;

/** Without `blocks`, renders `text` with code blocks as the only formatting. */
export function render(target: HTMLElement, text: string, blocks?: readonly Block[]): void {
  const shown = document.createDocumentFragment();
  fill(shown, blocks === undefined ? plain(text) : blocks.map(blockNode));
  target.replaceChildren(shown);
}

/** Converts text with code fences to nodes. */
function plain(text: string): Node[] {
  const nodes: Node[] = [];
  // The parts repeat in this order: text, the opening fence's language, code, the closing fence's language.
  const parts = text.split(FENCE);
  for (let at = 0; at < parts.length; at += 2) {
    const part = parts[at] ?? "";
    const isCode = at % 4 === 2;
    // Drop the line feeds that separate the code from both fences. An unclosed block has no final fence.
    const code = part.slice(1, at === parts.length - 1 ? undefined : -1);
    if (isCode && part !== "") nodes.push(codeBlock(code, parts[at - 1]));
    else if (!isCode && part.trim() !== "") nodes.push(paragraph([withoutBlankEnds(part)]));
  }
  return nodes;
}

function withoutBlankEnds(text: string): string {
  let from = 0;
  let to = text.length;
  while (text[from] === "\n") from += 1;
  while (to > from && text[to - 1] === "\n") to -= 1;
  return text.slice(from, to);
}

function blockNode(block: Block): Node {
  switch (block.kind) {
    case "paragraph":
      return paragraph(block.inside.map(piece));
    case "heading":
      return paragraph([made("strong", block.inside.map(piece))]);
    case "list": {
      const items = block.items.map(item);
      return block.start === undefined ? made("ul", items) : made("ol", items, { start: block.start });
    }
    case "quote":
      return made("blockquote", block.blocks.map(blockNode));
    case "code":
      return codeBlock(block.code, block.language);
    case "table":
      return table(block);
    case "break":
      return made("hr");
  }
}

function item({ done, blocks }: Item): HTMLElement {
  // Show an item's first paragraph beside its bullet.
  const content = blocks.flatMap((block, at): (Node | string)[] =>
    at === 0 && block.kind === "paragraph" ? block.inside.map(piece) : [blockNode(block)],
  );
  if (done === undefined) return made("li", content);
  return made("li", [done ? "☑ " : "☐ ", ...content], "task");
}

function piece(part: Inline): Node | string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return made("code", [part.code]);
    case "strong":
      return made("strong", part.inside.map(piece));
    case "emphasis":
      return made("em", part.inside.map(piece));
    case "struck":
      return made("s", part.inside.map(piece));
    case "link": {
      const label = made("span", part.label.map(piece));
      const shown = label.textContent ?? "";
      // If the label looks like a URL, link it only if it equals the target.
      const misleads = WEB.test(shown) && shown !== part.target;
      if (misleads || !WEB.test(part.target)) return made("span", [label, ` (${part.target})`]);
      return link(part.target, shown === "" ? part.target : label);
    }
  }
}

function table({ head, rows }: Extract<Block, { kind: "table" }>): HTMLElement {
  const row = (kind: "th" | "td") => (cells: readonly Inline[][]) => {
    const content = cells.map((inside) => made(kind, inside.map(piece)));
    return made("tr", content);
  };
  const parts = [made("thead", [row("th")(head)]), made("tbody", rows.map(row("td")))];
  return made("div", [made("table", parts)], { className: "table", tabIndex: 0 });
}

function codeBlock(code: string, language = ""): HTMLElement {
  const text = made("code", [code]);
  const copy = made("button", ["Copy"], { type: "button", className: "copy" });
  copies(copy, () => code);
  const bar = made("div", [made("span", [language]), copy], "bar");
  void highlight(text, language);
  return made("div", [bar, made("pre", [text], { tabIndex: 0 })], "code");
}

/** Highlights code. Loads the highlighter on first use. */
async function highlight(target: HTMLElement, language: string): Promise<void> {
  const code = target.textContent ?? "";
  if (language === "" || code.length > LONGEST_COLOURED) return;
  // After an update, a page that is still open may not find the highlighter's file. Code blocks are then shown
  // without highlighting.
  const loaded = await import("./highlight.ts").catch(() => undefined);
  const coloured = loaded?.colour(code, language);
  if (coloured !== undefined) target.replaceChildren(coloured);
}

function link(href: string, label: Node | string): HTMLElement {
  return made("a", [label], { href, target: "_blank", rel: "noopener noreferrer" });
}

function paragraph(content: readonly (Node | string)[]): HTMLElement {
  return made("p", content, "part");
}
