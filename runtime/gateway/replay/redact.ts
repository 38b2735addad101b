import { hash } from "node:crypto";
import { isDiscordCommand } from "../../contract/discord-commands.ts";
import type { Platform } from "../../contract/delivery.ts";
import type { Reading } from "../../contract/replay.ts";
import { isRecord } from "../../shared/json.ts";
import { readCommand } from "../commands.ts";

/**
 * Redaction of platform payloads. Channels can still parse the result: structure, lengths, punctuation and protocol
 * words stay. Letters become `x`; ids, numbers and names become keyed pseudonyms. Equal values get equal pseudonyms,
 * so mentions and allowlists still match.
 */
export interface Redaction {
  payload(platform: Platform, payload: Record<string, unknown>): Record<string, unknown>;
  /** Replaces the ids and names in a channel's settings with their pseudonyms. */
  reading(reading: Reading): Reading;
}

/** Maximum nesting. Deeper parts become `null`. */
const DEEPEST = 64;
/** Matches field names that platforms define. Keys that do not match are redacted like text. */
const FIELD = /^[a-z][a-z0-9_]{0,40}$/;
/** Fields with protocol words as values. */
const PROTOCOL_FIELDS = new Set(["type", "subtype", "channel_type", "mode", "t"]);
const PROTOCOL_WORD = /^[A-Za-z][A-Za-z0-9_]{0,40}$/;
const MEDIA_FIELDS = new Set(["mimetype", "mime_type", "content_type"]);
const MEDIA_TYPE = /^(image|audio|video|text|application)(\/.*)$/s;
/** Fields with numbers that are not ids. */
const MEASURES = new Set(
  `offset length type flags channel_type format_type file_size size duration duration_ms duration_secs
  width height`.split(/\s+/),
);
const OPTIONS = new Set(["text", "name", "file"]);

/** Matches an @name, a command, an id or uppercase word, a number, a single letter, or a non-ASCII character. */
const TOKEN =
  /@(\w+)|(?<![^\s>])\/([A-Za-z]{1,16})(?!\w)|((?<![A-Za-z0-9])[A-Z][A-Z0-9]+(?![A-Za-z0-9]))|(\d+)|[A-Za-z]|[^!-~\s]/g;
/** Slack's own bot has this id in every workspace. */
const SLACKBOT = "USLACKBOT";

const DIGITS = "0123456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/**
 * Creates a redaction that derives pseudonyms from a secret key. The key is not stored, so pseudonyms cannot be
 * reversed.
 */
export function createRedaction(key: Uint8Array): Redaction {
  const secret = Buffer.from(key).toString("hex");
  const known = new Map<string, string>();
  const hashed = (text: string, alphabet: string): string => {
    const entry = `${alphabet[0]} ${text}`;
    const found = known.get(entry);
    if (found !== undefined) return found;
    // SHA-3 resists length extension, so prefixing the key suffices. HMAC objects would take four times as long.
    const bytes = hash("sha3-256", secret + entry, "buffer");
    const made = Array.from(text, (_, at) => alphabet[(bytes[at % bytes.length] ?? 0) % alphabet.length]);
    known.set(entry, made.join(""));
    return made.join("");
  };
  // Make the first digit 1 to 8, so that a number of up to 16 digits is a safe integer.
  const digits = (text: string): string => {
    const [first = "0", ...rest] = hashed(text, DIGITS);
    return `${(Number(first) % 8) + 1}${rest.join("")}`;
  };
  const slackId = (text: string): string =>
    text === SLACKBOT ? text : `${text[0]}${hashed(text, CAPITALS).slice(1)}`;
  const name = (text: string): string => hashed(text.toLowerCase(), LETTERS);

  const text = (platform: Platform, value: string): string =>
    value.replace(TOKEN, (token: string, called?: string, command?: string, id?: string, number?: string) => {
      // Only Telegram mentions people by name. On other platforms, an id may follow the @ sign.
      if (called !== undefined) return `@${platform === "telegram" ? name(called) : text(platform, called)}`;
      if (command !== undefined) return isOwnCommand(command) ? token : `/${"x".repeat(command.length)}`;
      if (id !== undefined) return platform === "slack" ? slackId(id) : text(platform, id.toLowerCase());
      return number === undefined ? "x" : digits(number);
    });
  const string = (platform: Platform, field: string, value: string): string => {
    if (PROTOCOL_FIELDS.has(field) && PROTOCOL_WORD.test(value)) return value;
    if (field === "name" && platform === "discord" && (isDiscordCommand(value) || OPTIONS.has(value)))
      return value;
    const [, kind, rest = ""] = (MEDIA_FIELDS.has(field) && MEDIA_TYPE.exec(value)) || [];
    return kind === undefined ? text(platform, value) : kind + text(platform, rest);
  };
  const number = (field: string, value: number): number => {
    if (MEASURES.has(field) || value === 0) return value;
    if (!Number.isSafeInteger(value)) return 0.5;
    return Math.sign(value) * Number(digits(String(Math.abs(value))));
  };
  const redacted = (platform: Platform, field: string, value: unknown, depth: number): unknown => {
    if (depth > DEEPEST) return null;
    if (typeof value === "string") return string(platform, field, value);
    if (typeof value === "number") return number(field, value);
    if (Array.isArray(value)) return value.map((item) => redacted(platform, field, item, depth + 1));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        FIELD.test(key) ? key : text(platform, key),
        redacted(platform, key, item, depth + 1),
      ]),
    );
  };
  const id = (value: string): string => (value === "*" ? value : text("slack", value));
  const record = <T>(values: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [id(key), value]));

  return {
    payload: (platform, payload) => redacted(platform, "", payload, 0) as Record<string, unknown>,
    reading({ rules, granted, bot, moved, mediaMaxBytes }) {
      return {
        rules: {
          ...rules,
          allowFrom: rules.allowFrom.map(id),
          groupAllowFrom: rules.groupAllowFrom.map(id),
          operators: rules.operators.map(id),
          groups: record(rules.groups),
        },
        granted: record(granted),
        moved: Object.fromEntries(Object.entries(moved).map(([key, value]) => [id(key), id(value)])),
        ...(bot && {
          bot: { id: id(bot.id), ...(bot.username !== undefined && { username: name(bot.username) }) },
        }),
        mediaMaxBytes,
      };
    },
  };
}

function isOwnCommand(word: string): boolean {
  return word.toLowerCase() === "start" || readCommand(`/${word}`) !== undefined;
}
