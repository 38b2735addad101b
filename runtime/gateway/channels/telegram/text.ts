import { type Inline, parseInline } from "../../../shared/inline-markdown.ts";
import { fences, headingOf } from "../markdown.ts";

/** Escapes what Telegram's HTML needs escaped: https://core.telegram.org/bots/api#html-style */
function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

const ADDRESS = /^(?:https?:\/\/|mailto:|tg:\/\/)\S+$/i;
/** Text with its markup as HTML. Nothing is longer to the eye than it was, which the splitting rests on. */
function inline(text: string): string {
  return write(parseInline(text));
}

function write(pieces: readonly Inline[]): string {
  return pieces.map(writePiece).join("");
}

function writePiece(piece: Inline): string {
  switch (piece.kind) {
    case "text":
      return escape(piece.text);
    case "code":
      return `<code>${escape(piece.code)}</code>`;
    case "strong":
      return `<b>${write(piece.inside)}</b>`;
    case "emphasis":
      return `<i>${write(piece.inside)}</i>`;
    case "struck":
      return `<s>${write(piece.inside)}</s>`;
    case "address":
      return escape(piece.source);
    case "link": {
      const url = escape(piece.target);
      if (!ADDRESS.test(piece.target)) return `${write(piece.label)} (${url})`;
      return `<a href="${url}">${write(piece.label) || url}</a>`;
    }
  }
}

/**
 * A reply's Markdown in the HTML that Telegram takes: bold, italic, struck, code, links, quotes,
 * headings (bold) and tables (as they stand, in equal width). Everything else is escaped.
 */
export function writeTelegramHtml(markdown: string): string {
  const pieces: string[] = [];
  let position = 0;
  for (const { start, end, opening, closing } of fences(markdown)) {
    if (start > position) pieces.push(blocks(markdown.slice(position, start).replace(/\n$/, "")));
    pieces.push(fenced(markdown.slice(start, end), opening, closing));
    position = end + 1;
  }
  if (position < markdown.length) pieces.push(blocks(markdown.slice(position)));
  return pieces.join("\n");
}

/** A code block; its language names the highlighting, where it is one word. */
function fenced(block: string, opening: string, closing: string): string {
  const language = /^[\w+#.-]+/.exec(opening.trim().slice(closing.length).trim())?.[0];
  const lines = block.split("\n").slice(1);
  if (lines.at(-1)?.trim().startsWith(closing)) lines.pop();
  const code = escape(lines.join("\n"));
  return language === undefined
    ? `<pre>${code}</pre>`
    : `<pre><code class="language-${escape(language)}">${code}</code></pre>`;
}

type Kind = "text" | "quote" | "table";

/** Text outside of code blocks: neighbouring lines of one kind become one block. */
function blocks(text: string): string {
  const groups: { kind: Kind; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const kind = kindOf(line);
    const last = groups.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else groups.push({ kind, lines: [line] });
  }
  return groups.map(({ kind, lines }) => WRITERS[kind](lines)).join("\n");
}

function kindOf(line: string): Kind {
  if (line.trim() === "") return "text";
  if (/^ {0,3}>/.test(line)) return "quote";
  return /^\s*\|.*\|\s*$/.test(line) ? "table" : "text";
}

const WRITERS: Record<Kind, (lines: string[]) => string> = {
  quote: (lines) =>
    `<blockquote>${inline(lines.map((line) => line.replace(/^ {0,3}> ?/, "")).join("\n"))}</blockquote>`,
  table: (lines) => `<pre>${escape(lines.join("\n"))}</pre>`,
  text: (lines) => paragraphs(lines),
};

/** Markup does not reach across a blank line, a heading or an item of a list. */
function paragraphs(lines: readonly string[]): string {
  const out: string[] = [];
  let open: string[] = [];
  const close = (): void => {
    if (open.length > 0) out.push(inline(open.join("\n")));
    open = [];
  };
  for (const line of lines) {
    if (line.trim() === "") {
      close();
      out.push(line);
      continue;
    }
    const heading = headingOf(line);
    if (heading !== undefined) {
      close();
      // Bold inside of bold would be markup that the eye does not see.
      out.push(`<b>${inline(heading.replaceAll("**", ""))}</b>`);
      continue;
    }
    const isItem = /^\s*(?:[-*+]|\d+[.)])\s/.test(line);
    if (isItem) close();
    open.push(line.replace(/^(\s*)[-*+](?=\s)/, "$1•"));
  }
  close();
  return out.join("\n");
}
