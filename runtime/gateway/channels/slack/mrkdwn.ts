import { splitMarkdown } from "../../markdown/split.ts";
import { type Forms, writeMarkdown } from "../../markdown/write.ts";

/** Slack truncates longer texts: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const LONGEST_CHARACTERS = 40_000;
/**
 * Maximum length of an edit after escaping, in bytes. Slack refuses longer edits with `msg_too_long`:
 * https://docs.slack.dev/reference/methods/chat.update
 */
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
  // Slack supports no language after the backticks and would show it as code.
  codeBlock: (code) => `\`\`\`\n${escapeSlackText(code)}\n\`\`\``,
  bullet: "•",
  // Slack recognises formatting only next to a space or punctuation. A zero-width space is enough.
  boundary: "\u200B",
};

/**
 * Converts Markdown to Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). Escapes control
 * characters except in generated links, so that no text can notify a channel (`<!channel>`) or a person.
 */
export function writeMrkdwn(markdown: string): string {
  return writeMarkdown(markdown, FORMS);
}

/** A part of a Slack message in angle brackets: a link or a mention. */
interface Reference {
  start: number;
  end: number;
  /** Text before the first `|`: a URL, or a character such as `@` followed by an id. */
  id: string;
  label: string | undefined;
}

/**
 * Finds links and mentions in angle brackets, and skips unmatched brackets. Slack escapes brackets that people type.
 */
function* references(text: string): Generator<Reference> {
  let open = text.indexOf("<");
  while (open !== -1) {
    const close = text.indexOf(">", open);
    if (close === -1) return;
    // Start at the last opening bracket before `close`, so that the search takes linear time.
    const start = text.lastIndexOf("<", close);
    open = text.indexOf("<", close);
    const inside = text.slice(start + 1, close);
    const bar = inside.indexOf("|");
    const id = bar === -1 ? inside : inside.slice(0, bar);
    yield { start, end: close + 1, id, label: bar === -1 ? undefined : inside.slice(bar + 1) };
  }
}

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

export function mentionsUser(text: string, user: string): boolean {
  for (const { id } of references(text)) if (id === `@${user}`) return true;
  return false;
}

/** Removes all mentions of a user. If the user's id is unknown, removes only a mention at the start. */
export function withoutMention(text: string, user: string | undefined): string {
  const first = text.length - text.trimStart().length;
  return replaceReferences(text, ({ id, start }) => {
    const isOne = user === undefined ? id.startsWith("@") && start === first : id === `@${user}`;
    return isOne ? "" : undefined;
  });
}

/** Resolves Slack's escapes, links and mentions: https://docs.slack.dev/messaging/formatting-message-text */
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
  // Group mentions and dates begin with `!`: `<!here>`, `<!subteam^S1|@team>`, `<!date^1392734382^{date}|Feb 18>`.
  const name = id.startsWith("!subteam^") ? (label ?? "team") : (id.slice(1).split("^", 1)[0] ?? "");
  return `@${name.replace(/^@/, "")}`;
}

function escapeSlackText(text: string): string {
  if (!/[&<>]/.test(text)) return text;
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/**
 * Splits a reply into parts of at most `limit` characters. Once rendered, each part also fits into a message or, if
 * `edited`, into an edit.
 */
export function splitForSlack(text: string, limit: number, edited: boolean): string[] {
  return splitMarkdown(text, limit, (part) => {
    const rendered = writeMrkdwn(part);
    return edited ? Buffer.byteLength(rendered) / LONGEST_EDIT_BYTES : rendered.length / LONGEST_CHARACTERS;
  });
}
