import { splitMarkdown } from "../../markdown/split.ts";
import { type Forms, writeMarkdown } from "../../markdown/write.ts";

/** Slack cuts longer texts: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const LONGEST_CHARACTERS = 40_000;
/** An edit takes less, counted as it is escaped (`msg_too_long`): https://docs.slack.dev/reference/methods/chat.update */
const LONGEST_EDIT_BYTES = 4_000;

const FORMS: Forms = {
  text: escapeSlackText,
  code: (code) => `\`${escapeSlackText(code)}\``,
  strong: (inside) => `*${inside}*`,
  emphasis: (inside) => `_${inside}_`,
  struck: (inside) => `~${inside}~`,
  link({ target, shown }) {
    const url = escapeSlackText(target.replaceAll("|", "%7C"));
    const label = shown.replace(/[*_~`]/g, "");
    return label === "" ? `<${url}>` : `<${url}|${escapeSlackText(label)}>`;
  },
  quote: (inside) => inside.replace(/^/gm, "&gt; "),
  // Slack knows no language behind the opening backticks; it would show it as code.
  codeBlock: (code) => `\`\`\`\n${escapeSlackText(code)}\n\`\`\``,
  bullet: "•",
  // A style begins and ends at a blank or a sign: the zero-width space is one.
  boundary: "\u200B",
};

/**
 * Markdown as Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). Slack's three control characters
 * are escaped outside of the links made here, so that no text can call a channel together (`<!channel>`) or mention
 * people.
 */
export function writeMrkdwn(markdown: string): string {
  return writeMarkdown(markdown, FORMS);
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
 * Splits a reply before it is rendered; each part fits as it is rendered, too. `edited`: the messages are changed once
 * they are out.
 */
export function splitForSlack(text: string, limit: number, edited: boolean): string[] {
  return splitMarkdown(text, limit, (part) => {
    const rendered = writeMrkdwn(part);
    return edited ? Buffer.byteLength(rendered) / LONGEST_EDIT_BYTES : rendered.length / LONGEST_CHARACTERS;
  });
}
