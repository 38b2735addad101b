import { createHash } from "node:crypto";

/** Returns the name of a chat's workspace folder. It is unique per chat. */
export function chatName(platform: string, chat: string): string {
  const plain = chat.replaceAll(/[^\w-]/g, "_");
  if (plain === chat && chat.length <= 100) return `${platform}-${chat}`;
  const digest = createHash("sha256").update(chat).digest("hex").slice(0, 16);
  return `${platform}-${plain.slice(0, 80)}-${digest}`;
}
