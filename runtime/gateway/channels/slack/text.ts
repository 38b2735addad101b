/**
 * A message's text as a person reads it: Slack's escapes undone, links and references written out.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export function readSlackText(text: string): string {
  return text
    .replace(/<(https?:[^|>]+|mailto:[^|>]+)(?:\|([^>]*))?>/g, (_, url: string, label?: string) =>
      label === undefined || label === url || `mailto:${label}` === url
        ? url.replace(/^mailto:/, "")
        : `${label} (${url})`,
    )
    .replace(/<#\w+\|([^>]+)>/g, "#$1")
    .replace(/<!(?:subteam\^\w+\|)?@?([\w-]+)[^>]*>/g, "@$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/** Slack's three control characters escaped. */
export function escapeSlackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
