import { splitText } from "../split.ts";
import { writeMrkdwn } from "./mrkdwn.ts";

/** Slack cuts longer texts: https://docs.slack.dev/changelog/2018-truncating-really-long-messages */
const LONGEST_CHARACTERS = 40_000;
/** An edit takes less, counted as it is escaped (`msg_too_long`): https://docs.slack.dev/reference/methods/chat.update */
const LONGEST_EDIT_BYTES = 4_000;

/**
 * Splits a reply before it is rendered, so that no code block and no style is cut; each part fits as it
 * is rendered too. `edited`: the messages are changed once they are out.
 */
export function splitForSlack(text: string, limit: number, edited: boolean): string[] {
  return splitText(text, limit).flatMap((part) =>
    fits(part, edited) ? [part] : splitForSlack(part, Math.floor(part.length / 2), edited),
  );
}

function fits(part: string, edited: boolean): boolean {
  // A part this small fits in any case, even if each of its characters is escaped.
  if (part.length <= LONGEST_EDIT_BYTES / 8) return true;
  const rendered = writeMrkdwn(part);
  return edited ? Buffer.byteLength(rendered) <= LONGEST_EDIT_BYTES : rendered.length <= LONGEST_CHARACTERS;
}
