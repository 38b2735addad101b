import { splitMarkdown } from "../../markdown/split.ts";
import { type Forms, writeMarkdown } from "../../markdown/write.ts";

/** Slack truncates longer texts: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const LONGEST_CHARACTERS = 40_000;
/**
 * Edits have a lower limit, which applies to the escaped text (`msg_too_long`):
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
  // Slack has no fence languages and would show one as code.
  codeBlock: (code) => `\`\`\`\n${escapeSlackText(code)}\n\`\`\``,
  bullet: "•",
  // Slack recognises a style only next to a space or punctuation; a zero-width space counts.
  boundary: "\u200B",
};

/**
 * Converts Markdown to Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). Escapes Slack's
 * control characters except in generated links, so that no text can notify a channel (`<!channel>`) or a person.
 */
export function writeMrkdwn(markdown: string): string {
  return writeMarkdown(markdown, FORMS);
}

/** Part of a message in angle brackets: a link or a mention. */
interface Reference {
  start: number;
  end: number;
  /** Part before the first `|`: a URL, or a prefix character and an id. */
  id: string;
  label: string | undefined;
}

/** Finds references. Slack escapes brackets that people type, so an unmatched bracket is plain text. */
function* references(text: string): Generator<Reference> {
  let open = text.indexOf("<");
  while (open !== -1) {
    const close = text.indexOf(">", open);
    if (close === -1) return;
    // Start at the last opening bracket before `close`, so that the search stays linear.
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

/** Removes the mentions of a user. Without an id, removes only a mention at the start. */
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
  // `<!here>`, `<!subteam^S1|@team>`, `<!date^1392734382^{date}|Feb 18>`
  const name = id.startsWith("!subteam^") ? (label ?? "team") : (id.slice(1).split("^", 1)[0] ?? "");
  return `@${name.replace(/^@/, "")}`;
}

function escapeSlackText(text: string): string {
  if (!/[&<>]/.test(text)) return text;
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Splits a reply before rendering. Each part also fits after rendering. `edited` selects the lower limit for edits. */
export function splitForSlack(text: string, limit: number, edited: boolean): string[] {
  return splitMarkdown(text, limit, (part) => {
    const rendered = writeMrkdwn(part);
    return edited ? Buffer.byteLength(rendered) / LONGEST_EDIT_BYTES : rendered.length / LONGEST_CHARACTERS;
  });
}
