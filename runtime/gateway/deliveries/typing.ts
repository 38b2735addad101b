import type { Channel, ReplyTarget } from "../channels/channel.ts";

/** Platforms show it for 5 s (Telegram) to 10 s (Discord). */
const REFRESH_MS = 6_000;

/** Shows that an answer is being made, until the function that it gives is called. */
export function showTyping(channel: Pick<Channel, "typing">, target: ReplyTarget): () => void {
  if (channel.typing === undefined) return () => {};
  const show = (): void => void channel.typing?.(target).catch(() => undefined);
  show();
  const timer = setInterval(show, REFRESH_MS).unref();
  return () => clearInterval(timer);
}
