import { type Inline, parseInline, visibleText } from "../../../shared/inline-markdown.ts";
import { fences, headingOf, isBreak, itemOf } from "../markdown.ts";
import { splitText } from "../split.ts";

/** Slack cuts longer texts: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const LONGEST_CHARACTERS = 40_000;
/** An edit takes less, counted as it is escaped (`msg_too_long`): https://docs.slack.dev/reference/methods/chat.update */
const LONGEST_EDIT_BYTES = 4_000;

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
  if (line.trim() === "") return line;
  const heading = headingOf(line);
  if (heading !== undefined) return `*${writePieces(parseInline(heading), true)}*`;
  if (isBreak(line)) return "———";
  const item = itemOf(line);
  const bullet = item === undefined ? "" : `${item.indent}• `;
  return bullet + writePieces(parseInline(item?.text ?? line), false);
}

/** `isBold`: they stand in bold already, and Slack shows no bold inside bold. */
function writePieces(pieces: readonly Inline[], isBold: boolean): string {
  return pieces.map((piece) => writePiece(piece, isBold)).join("");
}

function writePiece(piece: Inline, isBold: boolean): string {
  switch (piece.kind) {
    case "text":
      return escapeSlackText(piece.text);
    case "code":
      return `\`${escapeSlackText(piece.code)}\``;
    case "link":
      return writeLink(piece.target, visibleText(piece.label), piece.source);
    case "address":
      return piece.marked ? writeLink(piece.address, "", piece.source) : escapeSlackText(piece.address);
    case "strong":
      return isBold ? writePieces(piece.inside, true) : `*${writePieces(piece.inside, true)}*`;
    case "emphasis":
      return `_${writePieces(piece.inside, isBold)}_`;
    case "struck":
      return `~${writePieces(piece.inside, isBold)}~`;
  }
}

/** Only addresses that a browser or a mail program opens become links. */
function writeLink(target: string, label: string, whole: string): string {
  if (!/^(?:https?:\/\/|mailto:)[^\s<>]+$/i.test(target)) return escapeSlackText(whole);
  const url = escapeSlackText(target.replaceAll("|", "%7C"));
  const shown = label.replace(/[*_~`]/g, "").trim();
  return shown === "" ? `<${url}>` : `<${url}|${escapeSlackText(shown)}>`;
}

/** A part of a message's text between angle brackets: a link, or a mention of somebody or something. */
interface Reference {
  start: number;
  end: number;
  /** Before the first `|`: an address, or a sign and an id. */
  id: string;
  /** Behind it. */
  label: string | undefined;
}

/** Slack escapes the brackets that a person writes, so one that does not fit is text. */
function* references(text: string): Generator<Reference> {
  let open = text.indexOf("<");
  while (open !== -1) {
    const close = text.indexOf(">", open);
    if (close === -1) return;
    // The last opening one before it, which is at `open` or behind: no look goes back further.
    const start = text.lastIndexOf("<", close);
    open = text.indexOf("<", close);
    const inside = text.slice(start + 1, close);
    const bar = inside.indexOf("|");
    const id = bar === -1 ? inside : inside.slice(0, bar);
    yield { start, end: close + 1, id, label: bar === -1 ? undefined : inside.slice(bar + 1) };
  }
}

/** Puts something in the place of references; `undefined` leaves one as it was. */
function replaceReferences(text: string, instead: (reference: Reference) => string | undefined): string {
  const parts: string[] = [];
  let position = 0;
  for (const reference of references(text)) {
    const replaced = instead(reference);
    if (replaced === undefined) continue;
    parts.push(text.slice(position, reference.start), replaced);
    position = reference.end;
  }
  return parts.join("") + text.slice(position);
}

/** Returns true for a text that mentions the person with this id. */
export function mentionsUser(text: string, user: string): boolean {
  for (const { id } of references(text)) if (id === `@${user}`) return true;
  return false;
}

/** A text without the mentions of a user; without an id, without a mention that it begins with. */
export function withoutMention(text: string, user: string | undefined): string {
  const first = text.length - text.trimStart().length;
  return replaceReferences(text, ({ id, start }) => {
    const isOne = user === undefined ? id.startsWith("@") && start === first : id === `@${user}`;
    return isOne ? "" : undefined;
  });
}

/**
 * A message's text as a person reads it: Slack's escapes undone, links and references written out.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export function readSlackText(text: string): string {
  return replaceReferences(text, readReference)
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function readReference({ id, label }: Reference): string | undefined {
  const isMail = id.startsWith("mailto:");
  if (isMail || id.startsWith("http:") || id.startsWith("https:")) {
    const address = isMail ? id.slice("mailto:".length) : id;
    return label === undefined || label === id || label === address ? address : `${label} (${id})`;
  }
  if (id.startsWith("#")) return label ? `#${label}` : undefined;
  if (!id.startsWith("!")) return undefined;
  // `<!here>`, `<!subteam^S1|@team>`, `<!date^1392734382^{date}|Feb 18>`
  const name = id.startsWith("!subteam^") ? (label ?? "team") : (id.slice(1).split("^", 1)[0] ?? "");
  return `@${name.replace(/^@/, "")}`;
}

/** Slack's three control characters escaped. */
function escapeSlackText(text: string): string {
  if (!/[&<>]/.test(text)) return text;
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
