export interface DiscordMessage {
  id: string;
  /** Id of the channel, or the interaction token with which the message was sent. */
  place: string;
  /** Id of the channel, even if the message was sent with an interaction token. */
  channel: string;
  content: string;
  flags: number;
  /** True for the message that answers a deferred interaction. */
  original: boolean;
  edits: number;
  file?: string;
  /** Id of the message to which this message replies. */
  answers?: string;
  buttons: readonly { label: string; custom_id: string }[];
}

/** 2015-01-01T00:00:00Z, in milliseconds since the epoch. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** https://docs.discord.com/developers/reference#snowflakes */
export function snowflake(atMs: number, counter = 0): string {
  return String((BigInt(atMs - DISCORD_EPOCH_MS) << 22n) + BigInt(counter));
}

let made = 0;

/** Returns a unique id. */
export function snowflakeNow(): string {
  made += 1;
  return snowflake(Date.now(), made % 4_096);
}

export const PERSON = {
  id: "53908232506183680",
  username: "mason",
  global_name: "Mason",
  discriminator: "0",
  avatar: null,
};

/** https://docs.discord.com/developers/resources/message#message-object */
export const PLAIN_MESSAGE = {
  type: 0,
  edited_timestamp: null,
  tts: false,
  mention_everyone: false,
  mentions: [],
  mention_roles: [],
  attachments: [],
  embeds: [],
  components: [],
  pinned: false,
  flags: 0,
} as const;

/** https://docs.discord.com/developers/components/reference#action-row */
export function buttonsOf({ components }: Record<string, unknown>): DiscordMessage["buttons"] {
  const rows = (components ?? []) as { components: DiscordMessage["buttons"] }[];
  return rows.flatMap((row) => row.components);
}

/**
 * Returns the JSON text and the attached file of a request. Like Discord, ignores a body that is neither JSON nor
 * form data: https://docs.discord.com/developers/reference#uploading-files
 */
export async function readSent(request: Request): Promise<{ text: string; file?: File }> {
  const type = request.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) return { text: await request.text() };
  if (!type.startsWith("multipart/form-data")) return { text: "{}" };
  const form = await request.formData();
  const file = form.get("files[0]");
  return { text: String(form.get("payload_json") ?? "{}"), ...(file instanceof File && { file }) };
}
