/** Returns a form field's value, or an empty text without the field. */
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
