/** Returns the value of a page's input field, or an empty text if there is none. */
export function fieldOf(page: string, name: string): string {
  return unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "");
}

/** Reverses HTML escaping. */
export function unescaped(html: string): string {
  return html
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
