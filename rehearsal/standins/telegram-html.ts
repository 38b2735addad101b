/** https://core.telegram.org/bots/api#html-style */
const TAGS = new Set(
  "b strong i em u ins s strike del a code pre blockquote tg-spoiler span tg-emoji".split(" "),
);
const NAMED: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** The text without tags, or Telegram's reason to reject the HTML. */
export type ReadHtml = { ok: true; text: string } | { ok: false; description: string };

/**
 * Parses HTML as Telegram does: an unknown or unmatched tag is an error. An `&` that begins no known entity is
 * literal. Does not check whether a tag may be nested in another.
 */
export function readHtml(html: string): ReadHtml {
  const open: string[] = [];
  let text = "";
  let position = 0;
  const failed = (description: string): ReadHtml => ({
    ok: false,
    description: `Bad Request: can't parse entities: ${description}`,
  });
  for (const match of html.matchAll(/<(\/?)([^\s<>/]*)([^<>]*)(>?)/g)) {
    const [whole, slash, name = "", , end] = match;
    const at = Buffer.byteLength(html.slice(0, match.index));
    if (end === "") return failed(`Unclosed start tag at byte offset ${at}`);
    text += decode(html.slice(position, match.index));
    position = match.index + whole.length;
    const tag = name.toLowerCase();
    if (slash === "") {
      if (!TAGS.has(tag)) return failed(`Unsupported start tag "${tag}" at byte offset ${at}`);
      open.push(tag);
      continue;
    }
    const expected = open.pop();
    if (expected === undefined) return failed(`Unexpected end tag at byte offset ${at}`);
    if (tag !== expected) {
      return failed(`Unmatched end tag at byte offset ${at}, expected "</${expected}>", found "</${tag}>"`);
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) return failed(`Can't find end tag corresponding to start tag "${unclosed}"`);
  return { ok: true, text: text + decode(html.slice(position)) };
}

function decode(text: string): string {
  return text.replace(/&(#\d+|#x[\da-f]+|\w+);/gi, (whole, name: string) => {
    if (name.startsWith("#x")) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
    return NAMED[name] ?? whole;
  });
}
