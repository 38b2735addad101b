/** Returns the value of a form field, or an empty text if the page has no such field. */
export function fieldOf(page: string, name: string): string {
  return unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "");
}

export function unescaped(html: string): string {
  return html
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
