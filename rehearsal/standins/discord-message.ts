/** A message that the bot has sent. */
export interface DiscordMessage {
  id: string;
  /** The channel, or the interaction's token that it went out by. */
  place: string;
  /** The channel, also of a message that went out by a token. */
  channel: string;
  content: string;
  flags: number;
  /** True for the answer that replaces a deferred one. */
  original: boolean;
  /** Number of edits. */
  edits: number;
  /** Name of the attached file. */
  file?: string;
  /** Id of the message that this one replies to. */
  answers?: string;
  /** Buttons below it. */
  buttons: readonly { label: string; custom_id: string }[];
}

/** Milliseconds between 1970 and the first second of 2015, where Discord's ids begin. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** Returns an id as Discord makes it, of a time and a counter: https://docs.discord.com/developers/reference#snowflakes */
export function snowflake(atMs: number, counter = 0): string {
  return String((BigInt(atMs - DISCORD_EPOCH_MS) << 22n) + BigInt(counter));
}

let made = 0;

/** Returns a new id. */
export function snowflakeNow(): string {
  made += 1;
  return snowflake(Date.now(), made % 4_096);
}

/** The person who writes to the bot. */
export const PERSON = {
  id: "53908232506183680",
  username: "mason",
  global_name: "Mason",
  discriminator: "0",
  avatar: null,
};

/** Fields of a person's message that has words only: https://docs.discord.com/developers/resources/message#message-object */
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

/** Returns the buttons of a body: https://docs.discord.com/developers/components/reference#action-row */
export function buttonsOf({ components }: Record<string, unknown>): DiscordMessage["buttons"] {
  const rows = (components ?? []) as { components: DiscordMessage["buttons"] }[];
  return rows.flatMap((row) => row.components);
}

/** Returns the JSON of a request, and the file that came along: https://docs.discord.com/developers/reference#uploading-files */
export async function readSent(request: Request): Promise<{ text: string; file?: File }> {
  if (request.headers.get("content-type")?.startsWith("multipart/form-data") !== true) {
    return { text: await request.text() };
  }
  const form = await request.formData();
  const file = form.get("files[0]");
  return { text: String(form.get("payload_json") ?? "{}"), ...(file instanceof File && { file }) };
}
