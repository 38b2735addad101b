import * as z from "zod/mini";
import type { Config } from "../../../contract/config/index.ts";
import type { ReplyTarget } from "../../../contract/message.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import { directAddress } from "../../../contract/services.ts";
import { isRecord } from "../../../shared/json.ts";
import { readBrokerRefusal, RefusedError, RetryableError } from "../../failure.ts";
import { type Channel, OutgoingHealth } from "../channel.ts";
import type { ChannelOptions } from "../options.ts";
import { fetchFile } from "../files.ts";
import { intakeHealth, type ReadIntake } from "../intake.ts";
import { createDiscordApi, DiscordError } from "./api.ts";
import { readDiscordEvent } from "./inbound.ts";
import { unknownParts } from "./message.ts";
import { DiscordSender, LARGEST_FILE } from "./outbound.ts";
import { splitForDiscord } from "./text.ts";

/**
 * Reasons why a chat will never accept the message, by error code:
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes
 */
const CHAT_REFUSES: Record<number, string> = {
  10003: "the channel no longer exists",
  10004: "the server no longer exists",
  40005: "the file is too large",
  30033: "the thread is full",
  40333: "the request was blocked",
  50001: "the bot may not see the channel",
  50007: "the person accepts no messages from the bot",
  50008: "the channel accepts no messages",
  50013: "the bot may not write in the channel",
  50035: "the message is not valid",
  50083: "the thread is archived",
  50278: "the person shares no server with the bot",
};
/** Discord's error codes for a chat that was deleted or that the bot cannot reach. */
const GONE: ReadonlySet<number> = new Set([10003, 10004, 50001, 50007, 50278]);
/**
 * Discord's error codes for edits that it refuses: unknown message (10008), too many edits of an old message (30046),
 * another author's message (50005).
 */
const EDIT_REFUSED = new Set([10008, 30046, 50005]);

/** Hosts of Discord's attachments: https://docs.discord.com/developers/reference#signed-attachment-cdn-urls */
const FILE_HOSTS = new Set(["cdn.discordapp.com", "media.discordapp.net"]);

interface DiscordChannelOptions extends ChannelOptions<NonNullable<Config["channels"]["discord"]>> {
  intake: ReadIntake;
}

/** Milliseconds between renewals of the typing indicator, which Discord shows for ten seconds. */
const TYPING_MS = 8_000;

/** https://docs.discord.com/developers/resources/user#user-object */
const userSchema = z.object({ id: z.string(), username: z.string() });

/** Creates the Discord channel. It receives interactions and, on a host with a gateway connection, messages. */
export function createDiscordChannel(options: DiscordChannelOptions): Channel {
  const { config, access, environment, intake, clock, log } = options;
  const botToken = resolveSecret(config.token, environment);
  const interactionsUrl = directAddress("discord", environment);
  const ask = createDiscordApi({ botToken, environment, clock });
  const call: typeof ask = async (request) => {
    const answer = await ask(request);
    // Requests with a ticket do not use the token.
    if ("operation" in request) standing.tokenTaken();
    return answer;
  };
  const sender = new DiscordSender({ call, clock });
  const { ackReaction } = config;
  const mediaMaxBytes = Math.floor(config.mediaMaxMb * 1024 * 1024);
  const standing = new OutgoingHealth({
    platform: "discord",
    read: (error) => (error instanceof DiscordError ? readDiscordError(error) : error),
    tokenRefused: "discord_token_invalid",
    clock,
    log,
  });
  const mayFetch = (url: URL): boolean =>
    (url.protocol === "https:" && FILE_HOSTS.has(url.host)) || url.origin === new URL(interactionsUrl).origin;

  return {
    platform: "discord",
    streams: config.streamMode === "edit",
    mediaMaxBytes,
    receive: (payload) => readDiscordEvent(payload, access),
    unknownParts,
    split: (text) => splitForDiscord(text, config.textChunkLimit),
    send: (target, text, part = 0, buttons = []) =>
      standing.out(async () => {
        const id = await sender.send(target, text, part, buttons);
        return id === undefined ? {} : { id };
      }),
    answerPress: (press, word, done) => sender.answerPress(press, word, done).catch(() => undefined),
    directChat: (person) => standing.out(() => sender.directChat(person)),
    files: {
      maxBytes: LARGEST_FILE,
      send: (target, file, caption) => standing.out(() => sender.sendFile(target, file, caption)),
    },
    edit: (target, id, text) => standing.out(() => sender.edit(target, id, text)),
    typing: (target) => sender.typing(target).catch(() => undefined),
    typingMs: TYPING_MS,
    ...(ackReaction !== undefined && {
      react: (target: ReplyTarget, message: string) =>
        sender.react(target, message, ackReaction).catch((error: unknown) => {
          log.warn("a reaction could not be set", { platform: "discord", error: String(error) });
        }),
    }),
    dismiss: (target) => standing.out(() => sender.dismiss(target)),
    load: ({ reference }, signal) =>
      fetchFile(reference, { allowed: mayFetch, maxBytes: mediaMaxBytes, signal }),
    nameOf: async (kind, id) => {
      const answer =
        kind === "group"
          ? await call({ operation: "discord/guild", values: { guild: id } })
          : await call({ operation: "discord/channel", values: { channel: id } });
      return isRecord(answer) && typeof answer["name"] === "string" ? answer["name"] : undefined;
    },
    probe: () =>
      standing.probe(async () => {
        const { data } = userSchema.safeParse(await call({ operation: "discord/user" }));
        return { id: data?.id, name: data?.username };
      }),
    health: () => {
      const { polledAt, reason } = intakeHealth(intake(), "discord", clock());
      const health = standing.health({ ...(reason && { reason }), answered: polledAt !== undefined });
      return { ...health, ...(polledAt !== undefined && { polledAt }) };
    },
  };
}

function readDiscordError(error: DiscordError): RetryableError | RefusedError {
  const { status, code, message, retryAfterMs } = error;
  const options = { cause: error };
  const refusal = readBrokerRefusal(error.brokerCode, error);
  if (refusal !== undefined) return refusal;
  if (status === 401) {
    return new RetryableError("discord_token_invalid", `Discord refuses the bot token: ${message}.`, options);
  }
  if (status === 429) {
    return new RetryableError("channel_failed", "Discord's rate limit is reached.", {
      ...options,
      status: 429,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  const refused = CHAT_REFUSES[code];
  if (refused !== undefined) {
    return new RefusedError("reply_refused", `Discord rejects the reply: ${refused} (${code}).`, {
      ...options,
      gone: GONE.has(code),
    });
  }
  if (EDIT_REFUSED.has(code)) {
    return new RefusedError("edit_refused", `Discord rejects the edit: ${message} (${code}).`, options);
  }
  return new RetryableError("channel_failed", `Discord rejected the request: ${message}.`, options);
}
