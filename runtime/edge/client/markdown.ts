/**
 * An answer's Markdown as elements. Their content is text, and a link is http or https, so no answer can bring markup
 * of its own into the page. One pass over the lines; what is no known form stays as it was written.
 */

import { type Inline, parseInline, visibleText } from "../../shared/inline-markdown.ts";

const FENCE = /^```[\w+#.-]*[ \t]*$/;
const HEADING = /^#{1,6}\s+(\S.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(\S.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
const WEB = /^https?:\/\/./;
const COPIED_MS = 2_000;

/** Puts a text into an element: from Markdown, or as a person wrote it, where fences alone mean code. */
export function render(target: HTMLElement, text: string, form: "plain" | "markdown"): void {
  const shown = document.createDocumentFragment();
  fill(shown, blocks(text.split("\n"), form === "plain"));
  target.replaceChildren(shown);
}

function blocks(lines: readonly string[], isPlain: boolean): Node[] {
  const nodes: Node[] = [];
  let index = 0;
  /** Takes the lines from here on that fit. */
  const take = (fits: (line: string) => boolean): string[] => {
    const from = index;
    while (index < lines.length && fits(lines[index] ?? "")) index += 1;
    return lines.slice(from, index);
  };
  while (index < lines.length) {
    const line = lines[index] ?? "";
    if (FENCE.test(line)) {
      index += 1;
      nodes.push(codeBlock(take((one) => !FENCE.test(one)).join("\n")));
      index += 1;
    } else if (isPlain) {
      const text = take((one) => !FENCE.test(one)).join("\n");
      if (text.trim() !== "") nodes.push(paragraph([withoutBlankEnds(text)]));
    } else if (ITEM.test(line)) {
      nodes.push(list(take((one) => ITEM.test(one))));
    } else if (ROW.test(line) && RULE.test(lines[index + 1] ?? "")) {
      nodes.push(table(take((one) => ROW.test(one))));
    } else if (HEADING.test(line)) {
      index += 1;
      nodes.push(paragraph([made("strong", inline(HEADING.exec(line)?.[1] ?? ""))]));
    } else if (line.trim() === "") {
      index += 1;
    } else {
      index += 1;
      const rest = take((one) => one.trim() !== "" && ![FENCE, ITEM, HEADING].some((form) => form.test(one)));
      nodes.push(paragraph(inline([line, ...rest].join("\n"))));
    }
  }
  return nodes;
}

/** A text without the line feeds around it. */
function withoutBlankEnds(text: string): string {
  let from = 0;
  let to = text.length;
  while (text[from] === "\n") from += 1;
  while (to > from && text[to - 1] === "\n") to -= 1;
  return text.slice(from, to);
}

function inline(text: string): (Node | string)[] {
  return parseInline(text).map(piece);
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
    case "link":
      return WEB.test(part.target) ? link(part.target, visibleText(part.label) || part.target) : part.source;
    case "address":
      return part.source;
  }
}

function list(lines: readonly string[]): HTMLElement {
  const [, number] = ITEM.exec(lines[0] ?? "") ?? [];
  const items = lines.map((line) => made("li", inline(ITEM.exec(line)?.[2] ?? "")));
  if (number === undefined) return made("ul", items);
  const numbered = made("ol", items);
  numbered.start = Number(number);
  return numbered;
}

function table(lines: readonly string[]): HTMLElement {
  const [head = "", , ...rest] = lines;
  const row = (line: string, cell: "th" | "td") => {
    const cells = line.trim().slice(1, -1).split("|");
    return made(
      "tr",
      cells.map((text) => made(cell, inline(text.trim()))),
    );
  };
  const body = made(
    "tbody",
    rest.map((line) => row(line, "td")),
  );
  const scroller = made("div", [made("table", [made("thead", [row(head, "th")]), body])]);
  scroller.className = "table";
  scroller.tabIndex = 0;
  return scroller;
}

function codeBlock(code: string): HTMLElement {
  const text = made("pre", [code]);
  text.tabIndex = 0;
  const copy = made("button", ["Copy"]);
  copy.type = "button";
  copy.className = "copy";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  });
  const block = made("div", [text, copy]);
  block.className = "code";
  return block;
}

function link(address: string, label: string): HTMLElement {
  const anchor = made("a", [label]);
  anchor.href = address;
  anchor.target = "_blank";
  anchor.rel = "noopener noreferrer";
  return anchor;
}

function paragraph(content: readonly (Node | string)[]): HTMLElement {
  const part = made("p", content);
  part.className = "part";
  return part;
}

function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  content: readonly (Node | string)[],
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  fill(node, content);
  return node;
}

/** Appends one after the other: as arguments of a call, a long answer's pieces would overflow the stack. */
function fill(parent: ParentNode, content: readonly (Node | string)[]): void {
  for (const part of content) parent.append(part);
}
