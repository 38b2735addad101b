/** Returns the value of a page's field; empty where the page has none of that name. */
export function fieldOf(page: string, name: string): string {
  return unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "");
}

/** Returns a text as it was before it was put into a page. */
export function unescaped(html: string): string {
  return html
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
