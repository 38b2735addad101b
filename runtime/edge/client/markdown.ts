/**
 * Renders an answer's Markdown, parsed by the gateway, as elements. Their content is set as text and links must be http
 * or https, so an answer cannot inject markup into the page.
 */

import type { Block, Inline, Item } from "../../contract/markdown.ts";
import { button, fill, made } from "./dom.ts";

const FENCE = /^```([\w+#.-]*)[ \t]*$/;
const WEB = /^https?:\/\/./;
const COPIED_MS = 2_000;
const LONGEST_COLOURED = 50_000;

/** Renders a text into an element: from its blocks, or verbatim for a person's text, in which only fences mark code. */
export function render(target: HTMLElement, text: string, blocks?: readonly Block[]): void {
  const shown = document.createDocumentFragment();
  fill(shown, blocks === undefined ? plain(text) : blocks.map(blockNode));
  target.replaceChildren(shown);
}

function plain(text: string): Node[] {
  const nodes: Node[] = [];
  let lines: string[] = [];
  let language: string | undefined;
  const end = (): void => {
    const part = lines.join("\n");
    if (language !== undefined) nodes.push(codeBlock(part, language));
    else if (part.trim() !== "") nodes.push(paragraph([withoutBlankEnds(part)]));
    lines = [];
  };
  for (const line of text.split("\n")) {
    const fence = FENCE.exec(line);
    if (fence === null) {
      lines.push(line);
      continue;
    }
    end();
    language = language === undefined ? fence[1] : undefined;
  }
  if (language === undefined || lines.length > 0) end();
  return nodes;
}

/** Returns a text without leading and trailing line feeds. */
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
      if (block.start === undefined) return made("ul", items);
      const numbered = made("ol", items);
      numbered.start = block.start;
      return numbered;
    }
    case "quote":
      return made("blockquote", block.blocks.map(blockNode));
    case "code":
      return codeBlock(block.code, block.language);
    case "table":
      return table(block);
    case "break":
      return made("hr", []);
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
  const row = (cells: readonly Inline[][], cell: "th" | "td") =>
    made(
      "tr",
      cells.map((inside) => made(cell, inside.map(piece))),
    );
  const body = made(
    "tbody",
    rows.map((cells) => row(cells, "td")),
  );
  const scroller = made("div", [made("table", [made("thead", [row(head, "th")]), body])], "table");
  scroller.tabIndex = 0;
  return scroller;
}

function codeBlock(code: string, language = ""): HTMLElement {
  const text = made("code", [code]);
  const block = made("pre", [text]);
  block.tabIndex = 0;
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(code);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  });
  copy.className = "copy";
  const bar = made("div", [made("span", [language]), copy], "bar");
  void highlight(text, language);
  return made("div", [bar, block], "code");
}

/** Colours code. The highlighter is loaded with the first code of a page. */
async function highlight(target: HTMLElement, language: string): Promise<void> {
  const code = target.textContent ?? "";
  if (language === "" || code.length > LONGEST_COLOURED) return;
  // A page of an earlier version may find it gone: its code stays as it is.
  const loaded = await import("./highlight.ts").catch(() => undefined);
  const coloured = loaded?.colour(code, language);
  if (coloured !== undefined) target.replaceChildren(coloured);
}

function link(address: string, label: Node | string): HTMLElement {
  const anchor = made("a", [label]);
  anchor.href = address;
  anchor.target = "_blank";
  anchor.rel = "noopener noreferrer";
  return anchor;
}

function paragraph(content: readonly (Node | string)[]): HTMLElement {
  return made("p", content, "part");
}
