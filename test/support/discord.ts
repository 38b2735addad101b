import { PLAIN_MESSAGE, snowflake } from "../../rehearsal/standins/discord-message.ts";
import { NOW } from "./edge.ts";

/** Type of a Web Crypto key. Its global name differs between Node and workerd. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Returns a new public key and a function that signs requests. */
export async function createDiscordKey() {
  const pair = (await crypto.subtle.generateKey({ name: "Ed25519" }, true, [
    "sign",
    "verify",
  ])) as unknown as {
    publicKey: Key;
    privateKey: Key;
  };
  const raw = (await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer;
  const hex = (bytes: ArrayBuffer): string =>
    [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const headers = async (body: string, atMs = NOW): Promise<Record<string, string>> => {
    const timestamp = String(Math.floor(atMs / 1_000));
    const signed = new TextEncoder().encode(timestamp + body);
    return {
      "content-type": "application/json",
      "x-signature-timestamp": timestamp,
      "x-signature-ed25519": hex(await crypto.subtle.sign("Ed25519", pair.privateKey, signed)),
    };
  };
  return { publicKey: hex(raw), headers };
}

/** `null` removes a field. */
export interface CommandFields {
  name?: string;
  options?: object[];
  resolved?: object;
  [field: string]: unknown;
}

const PERSON = {
  id: "53908232506183680",
  username: "mason",
  global_name: "Mason",
  avatar: "a_d5efa99b3eeaa7dd43acca82f5692432",
  discriminator: "0",
  public_flags: 131141,
};

/**
 * Returns a command on a server:
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-example-interaction
 */
export function command(text: string, fields: CommandFields = {}): Record<string, unknown> {
  const { name = "ask", options, resolved, ...others } = fields;
  const said = [{ type: 3, name: "text", value: text }];
  const payload = {
    id: snowflake(NOW),
    application_id: "845027738276462632",
    type: 2,
    token: "aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEyMzQ1Njc4OQ",
    version: 1,
    locale: "en-US",
    guild_locale: "en-US",
    context: 0,
    app_permissions: "442368",
    entitlements: [],
    authorizing_integration_owners: { "0": "290926798626357999" },
    attachment_size_limit: 10_485_760,
    guild_id: "290926798626357999",
    channel_id: "645027906669510667",
    channel: { id: "645027906669510667", guild_id: "290926798626357999", name: "general", type: 0 },
    member: {
      user: PERSON,
      nick: null,
      roles: ["539082325061836999"],
      permissions: "2147483647",
      joined_at: "2017-03-13T19:19:14.040000+00:00",
      deaf: false,
      mute: false,
    },
    data: {
      id: "771825006014889984",
      type: 1,
      name,
      options: options ?? (name === "ask" ? said : []),
      ...(resolved && { resolved }),
    },
    ...others,
  };
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null));
}

/** Returns a command in a direct message, which has a `user` instead of a `member`. */
export function directCommand(text: string, fields: CommandFields = {}): Record<string, unknown> {
  return command(text, {
    guild_id: null,
    guild_locale: null,
    member: null,
    user: PERSON,
    context: 1,
    authorizing_integration_owners: { "0": "0" },
    channel_id: "1094323234567890123",
    channel: { id: "1094323234567890123", type: 1 },
    ...fields,
  });
}

export const BOT_USER = "1123456789012345678";

/** https://docs.discord.com/developers/resources/user#user-object */
export const MASON = PERSON;

/** Returns a message event: https://docs.discord.com/developers/events/gateway-events#message-create */
export function messageCreate(
  fields: object = {},
  place: "direct" | "server" = "direct",
): Record<string, unknown> {
  const server = {
    guild_id: "290926798626357999",
    channel_id: "645027906669510667",
    channel_type: 0,
    member: {
      nick: null,
      roles: [],
      joined_at: "2017-03-13T19:19:14.040000+00:00",
      deaf: false,
      mute: false,
    },
  };
  const direct = { channel_id: "1094323234567890123", channel_type: 1 };
  return {
    ...PLAIN_MESSAGE,
    id: snowflake(NOW),
    author: PERSON,
    content: "hello",
    timestamp: "2026-11-18T12:00:00.000000+00:00",
    nonce: "1",
    ...(place === "server" ? server : direct),
    ...fields,
  };
}

/** Returns {@link messageCreate} in the ledger's form. */
export function messageEvent(fields?: object, place?: "direct" | "server"): Record<string, unknown> {
  return { t: "MESSAGE_CREATE", bot: BOT_USER, d: messageCreate(fields, place) };
}

/** Returns a button press: https://docs.discord.com/developers/components/reference#button */
export function pressed(customId: string, fields: CommandFields = {}): Record<string, unknown> {
  return command("", {
    type: 3,
    data: { id: 2, component_type: 2, custom_id: customId },
    message: {
      ...messageCreate({ author: { id: BOT_USER, username: "steward", bot: true } }),
      content: "Which?",
    },
    ...fields,
  });
}
