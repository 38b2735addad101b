import { splitMarkdown } from "../../markdown/split.ts";
import { type Forms, writeMarkdown } from "../../markdown/write.ts";

/** Maximum length of a message in characters, not counting markup: https://core.telegram.org/bots/api#sendmessage */
const LONGEST_SHOWN = 4_096;

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

const FORMS: Forms = {
  text: escape,
  code: (code) => `<code>${escape(code)}</code>`,
  strong: (inside) => `<b>${inside}</b>`,
  emphasis: (inside) => `<i>${inside}</i>`,
  struck: (inside) => `<s>${inside}</s>`,
  link: ({ target, label }) => `<a href="${escape(target)}">${label || escape(target)}</a>`,
  quote: (inside) => `<blockquote>${inside}</blockquote>`,
  codeBlock: (code, language) =>
    language === undefined
      ? `<pre>${escape(code)}</pre>`
      : `<pre><code class="language-${escape(language)}">${escape(code)}</code></pre>`,
  bullet: "•",
};

export function writeTelegramHtml(markdown: string): string {
  return writeMarkdown(markdown, FORMS);
}

/** Splits a reply's Markdown into parts that fit into Telegram messages after rendering. */
export function splitForTelegram(text: string, limit: number): string[] {
  return splitMarkdown(text, limit, (part) => shownLength(writeTelegramHtml(part)) / LONGEST_SHOWN);
}

function shownLength(html: string): number {
  return html.replace(/<[^<>]*>/g, "").replace(/&\w+;/g, "&").length;
}
