import { fences, headingOf } from "../markdown.ts";
import { splitText } from "../split.ts";

/** Slack cuts longer texts: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const LONGEST_CHARACTERS = 40_000;
/** An edit takes less, counted as it is escaped (`msg_too_long`): https://docs.slack.dev/reference/methods/chat.update */
const LONGEST_EDIT_BYTES = 4_000;

/** Nesting while rendering: Slack shows no bold inside bold. */
interface Style {
  bold?: boolean;
}

/** The pieces of a line that mean something, the first that fits wins. What is between them is text. */
const PIECES = [
  { name: "code", form: /(?<ticks>`+)(?!`)(?<code>.+?)(?<!`)\k<ticks>(?!`)/ },
  { name: "escape", form: /\\(?<literal>[!-/:-@[-`{-~])/ },
  {
    name: "link",
    form: /!?\[(?<label>[^\]\n]*)\]\(\s*<?(?<target>[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+["'][^"'\n]*["'])?\s*\)/,
  },
  { name: "autolink", form: /<(?<address>(?:https?:\/\/|mailto:)[^\s<>|]+)>/ },
  // As it is, so that no underscore of an address becomes a style.
  { name: "address", form: /(?<bare>https?:\/\/[^\s<>*)]+)/ },
  { name: "strong", form: /(?<!\*)\*\*\*(?![\s*])(?<strong>.+?)(?<![\s*])\*\*\*(?!\*)/ },
  { name: "bold", form: /\*\*(?!\s)(?<bold>.+?)(?<!\s)\*\*(?!\*)/ },
  { name: "boldLine", form: /(?<![\w_])__(?!\s)(?<boldLine>.+?)(?<!\s)__(?![\w_])/ },
  { name: "italic", form: /(?<!\*)\*(?![\s*])(?<italic>[^*]*?(?:\*\*[^*]+\*\*[^*]*?)*)(?<![\s*])\*(?!\*)/ },
  { name: "italicLine", form: /(?<![\w_])_(?![\s_])(?<italicLine>.+?)(?<![\s_])_(?![\w_])/ },
  { name: "strike", form: /~~(?!\s)(?<strike>.+?)(?<!\s)~~/ },
] as const;
const PIECE = new RegExp(PIECES.map(({ form }) => `(?:${form.source})`).join("|"), "g");

/**
 * Markdown as Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text): code stays as it
 * is, styles, links, headings and lists take Slack's form. Slack's three control characters are escaped
 * outside of the links made here, so that no text can call a channel together (`<!channel>`) or mention
 * people. Tables and what Slack has no form for stay as they are written.
 */
export function writeMrkdwn(markdown: string): string {
  let rendered = "";
  let position = 0;
  for (const { start, end, opening } of fences(markdown)) {
    rendered += writeLines(markdown.slice(position, start));
    rendered += writeFence(markdown.slice(start + opening.length, end));
    position = end;
  }
  return rendered + writeLines(markdown.slice(position));
}

/** Slack knows no language behind the opening backticks; it would show it as code. */
function writeFence(inside: string): string {
  const code = inside.replace(/\n {0,3}(?:`{3,}|~{3,})[ \t]*$/, "").replace(/^\n/, "");
  return `\`\`\`\n${escapeSlackText(code)}\n\`\`\``;
}

function writeLines(text: string): string {
  return text.split("\n").map(writeLine).join("\n");
}

function writeLine(line: string): string {
  const heading = headingOf(line);
  if (heading !== undefined) return `*${writeInline(heading, { bold: true })}*`;
  const [, indent = "", rest] = /^(\s*)[-*+][ \t]+(.*)$/.exec(line) ?? [];
  // A line of three is a break between sections, not a list.
  const isBreak = /^\s*([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line);
  if (isBreak) return "———";
  if (rest !== undefined) return `${indent}• ${writeInline(rest, {})}`;
  return writeInline(line, {});
}

function writeInline(text: string, style: Style): string {
  let rendered = "";
  let position = 0;
  for (const match of text.matchAll(PIECE)) {
    rendered += escapeSlackText(text.slice(position, match.index)) + writePiece(match, style);
    position = match.index + match[0].length;
  }
  return rendered + escapeSlackText(text.slice(position));
}

function writePiece({ 0: whole, groups = {} }: RegExpMatchArray, style: Style): string {
  const { code, literal, label, target, address, bare, strong, italic, italicLine, strike } = groups;
  const bold = groups["bold"] ?? groups["boldLine"];
  const emphasis = italic ?? italicLine;
  if (code !== undefined) return `\`${escapeSlackText(code)}\``;
  if (literal !== undefined) return escapeSlackText(literal);
  if (target !== undefined) return writeLink(target, label ?? "", whole);
  if (address !== undefined) return writeLink(address, "", whole);
  if (bare !== undefined) return escapeSlackText(bare);
  if (strong !== undefined) return wrap("*", `_${writeInline(strong, { bold: true })}_`, style);
  if (bold !== undefined) return wrap("*", writeInline(bold, { bold: true }), style);
  if (emphasis !== undefined) return `_${writeInline(emphasis, style)}_`;
  return `~${writeInline(strike ?? "", style)}~`;
}

function wrap(marker: string, inside: string, { bold = false }: Style): string {
  return bold ? inside : `${marker}${inside}${marker}`;
}

/** Only addresses that a browser or a mail program opens become links. */
function writeLink(target: string, label: string, whole: string): string {
  if (!/^(?:https?:\/\/|mailto:)[^\s<>]+$/i.test(target)) return escapeSlackText(whole);
  const url = escapeSlackText(target.replaceAll("|", "%7C"));
  const shown = label.replace(/[*_~`]/g, "").trim();
  return shown === "" ? `<${url}>` : `<${url}|${escapeSlackText(shown)}>`;
}

/**
 * A message's text as a person reads it: Slack's escapes undone, links and references written out.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export function readSlackText(text: string): string {
  return text
    .replace(/<(https?:[^|>]+|mailto:[^|>]+)(?:\|([^>]*))?>/g, (_, url: string, label?: string) =>
      label === undefined || label === url || `mailto:${label}` === url
        ? url.replace(/^mailto:/, "")
        : `${label} (${url})`,
    )
    .replace(/<#\w+\|([^>]+)>/g, "#$1")
    .replace(/<!(?:subteam\^\w+\|)?@?([\w-]+)[^>]*>/g, "@$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/** Slack's three control characters escaped. */
function escapeSlackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/**
 * Splits a reply before it is rendered, so that no code block and no style is cut; each part fits as it
 * is rendered too. `edited`: the messages are changed once they are out.
 */
export function splitForSlack(text: string, limit: number, edited: boolean): string[] {
  return splitText(text, limit).flatMap((part) =>
    fits(part, edited) ? [part] : splitForSlack(part, Math.floor(part.length / 2), edited),
  );
}

function fits(part: string, edited: boolean): boolean {
  // A part this small fits in any case, even if each of its characters is escaped.
  if (part.length <= LONGEST_EDIT_BYTES / 8) return true;
  const rendered = writeMrkdwn(part);
  return edited ? Buffer.byteLength(rendered) <= LONGEST_EDIT_BYTES : rendered.length <= LONGEST_CHARACTERS;
}
