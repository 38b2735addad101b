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
const WORD = String.raw`[\p{L}\p{N}_]`;

/** One kind of markup inside a line: what it looks like, and what becomes of it. */
interface Markup {
  source: string;
  write(groups: Record<string, string | undefined>): string;
}

// Tried in this order at each place. What is inside of code is never looked at again.
const MARKUPS: readonly Markup[] = [
  {
    source: String.raw`\\(?<escaped>[!-/:-@[-\x60{-~])`,
    write: ({ escaped = "" }) => escape(escaped),
  },
  {
    source: "(?<!`)(?<ticks>`+)(?!`)(?<code>[^]*?[^`])\\k<ticks>(?!`)",
    write: ({ code = "" }) =>
      `<code>${escape(code.length > 2 ? code.replace(/^ (.*) $/s, "$1") : code)}</code>`,
  },
  {
    source: String.raw`!?\[(?<label>[^\[\]\n]+)\]\((?<url>[^()\s<>]+(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"\n]*")?\)`,
    write: ({ label = "", url = "" }) =>
      ADDRESS.test(url)
        ? `<a href="${escape(url)}">${inline(label)}</a>`
        : `${inline(label)} (${escape(url)})`,
  },
  {
    source: String.raw`\*\*\*(?<both>[^\s*](?:[^*]*[^\s*])?)\*\*\*(?!\*)`,
    write: ({ both = "" }) => `<b><i>${inline(both)}</i></b>`,
  },
  {
    source: String.raw`\*\*(?=[^\s*])(?<bold>(?:[^*]|\*(?!\*))*?[^\s])\*\*(?!\*)`,
    write: ({ bold = "" }) => `<b>${inline(bold)}</b>`,
  },
  {
    source: `(?<!${WORD})__(?=[^\\s_])(?<strong>(?:[^_]|_(?!_))*?[^\\s])__(?!${WORD})`,
    write: ({ strong = "" }) => `<b>${inline(strong)}</b>`,
  },
  {
    source: String.raw`~~(?=\S)(?<struck>[^~]*?\S)~~(?!~)`,
    write: ({ struck = "" }) => `<s>${inline(struck)}</s>`,
  },
  {
    // Not inside of a word, unlike CommonMark: 2*3*4 is a product.
    source: String.raw`(?<![*\p{L}\p{N}_])\*(?=[^\s*])(?<italic>[^*]*?[^\s*])\*(?![*\p{L}\p{N}_])`,
    write: ({ italic = "" }) => `<i>${inline(italic)}</i>`,
  },
  {
    source: `(?<!${WORD})_(?=[^\\s_])(?<slanted>[^_]*?[^\\s_])_(?!${WORD})`,
    write: ({ slanted = "" }) => `<i>${inline(slanted)}</i>`,
  },
];

const INLINE = new RegExp(MARKUPS.map(({ source }, index) => `(?<m${index}>${source})`).join("|"), "gu");

/** Text with its markup as HTML. Nothing is longer to the eye than it was, which the splitting rests on. */
function inline(text: string): string {
  let html = "";
  let position = 0;
  for (const match of text.matchAll(INLINE)) {
    const { groups = {} } = match;
    const markup = MARKUPS.find((_, index) => groups[`m${index}`] !== undefined);
    html += escape(text.slice(position, match.index)) + (markup?.write(groups) ?? escape(match[0]));
    position = match.index + match[0].length;
  }
  return html + escape(text.slice(position));
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
    const kind: Kind = /^ {0,3}>/.test(line) ? "quote" : /^\s*\|.*\|\s*$/.test(line) ? "table" : "text";
    const last = groups.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else groups.push({ kind, lines: [line] });
  }
  return groups.map(({ kind, lines }) => WRITERS[kind](lines)).join("\n");
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
    const heading = headingOf(line);
    if (heading !== undefined) {
      close();
      // Bold inside of bold would be markup that the eye does not see.
      out.push(`<b>${inline(heading.replaceAll("**", ""))}</b>`);
      continue;
    }
    const isItem = /^\s*(?:[-*+]|\d+[.)])\s/.test(line);
    if (line.trim() === "" || isItem) close();
    open.push(line.replace(/^(\s*)[-*+](?=\s)/, "$1•"));
  }
  close();
  return out.join("\n");
}
