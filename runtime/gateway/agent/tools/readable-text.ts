const SKIPPED = new Set(["script", "style", "noscript", "template", "svg", "head", "iframe"]);
const BLOCKS =
  /^(?:p|div|br|li|ul|ol|h[1-6]|tr|table|section|article|header|footer|main|nav|pre|blockquote|hr|dd|dt)$/;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Extracts the text of an HTML page, one block per line. Takes linear time even for broken pages. */
export function readableText(html: string): string {
  // Change only ASCII: `toLowerCase` turns "İ" into two characters, which would shift all positions.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    parts.push(html.slice(at, open === -1 ? html.length : open));
    if (open === -1) break;
    if (lower.startsWith("<!--", open)) {
      at = after(lower, "-->", open);
      continue;
    }
    const end = after(lower, ">", open);
    const name = /^<\/?([a-z][a-z0-9]*)/.exec(lower.slice(open, open + 20))?.[1] ?? "";
    if (BLOCKS.test(name)) parts.push("\n");
    const skips = SKIPPED.has(name) && lower[open + 1] !== "/" && html[end - 2] !== "/";
    // An unclosed element extends to the end of the page, as in a browser.
    at = skips ? after(lower, ">", after(lower, `</${name}`, end) - 1) : end;
  }
  const text = parts.join("").replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, entity);
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "").join("\n");
}

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
}

function entity(whole: string, name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : "";
}
