import type { ReplyTarget } from "../../../contract/message.ts";
import * as z from "zod/mini";
import type { Config } from "../../../contract/config/index.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import type { BotAccount, ChannelHealth } from "../../../contract/control.ts";
import { StewardError } from "../../../contract/errors.ts";
import { credential, isPass, passOf, PROXY_HEADER, serviceAddress } from "../../../contract/services.ts";
import { TelegramApi, TelegramError } from "../../../process/telegram/api.ts";
import { readBrokerRefusal, RefusedError, RetryableError } from "../../failure.ts";
import { type Channel, OutgoingHealth } from "../channel.ts";
import type { ChannelOptions } from "../options.ts";
import type { BotIdentity } from "./addressed.ts";
import { readTelegramUpdate } from "./inbound.ts";
import type { ChatMoves } from "./moves.ts";
import { unknownParts } from "./message.ts";
import { LARGEST_DOCUMENT, TelegramSender } from "./outbound.ts";
import { intakeHealth, type ReadIntake } from "../intake.ts";
import { splitForTelegram } from "./text.ts";

interface TelegramChannelOptions extends ChannelOptions<NonNullable<Config["channels"]["telegram"]>> {
  intake: ReadIntake;
  moves: Pick<ChatMoves, keyof ChatMoves>;
}

/** https://core.telegram.org/bots/api#getme */
const meSchema = z.object({ username: z.string().check(z.minLength(1)) });

/** https://core.telegram.org/bots/api */
export function createTelegramChannel(options: TelegramChannelOptions): Channel {
  const { config, access, environment, intake, moves, clock, log } = options;
  const token = resolveSecret(config.botToken, environment);
  const apiRoot = serviceAddress("telegram", token, environment);
  const api = new TelegramApi({
    token,
    apiRoot,
    ...(isPass("telegram", token, environment)
      ? { brokerHeaders: brokerHeaders(token, config.proxy) }
      : config.proxy !== undefined && { proxy: config.proxy }),
  });
  const sender = new TelegramSender(api, moves);
  const mediaMaxBytes = Math.floor(config.mediaMaxMb * 1024 * 1024);
  const { ackReaction } = config;
  const bot: BotIdentity = { id: api.botId, username: undefined };
  const standing = new OutgoingHealth({
    platform: "telegram",
    read: (error) => (error instanceof TelegramError ? readTelegramError(error) : error),
    clock,
    log,
  });

  const learnName = async (): Promise<BotAccount> => {
    bot.username = meSchema.parse(await api.call("getMe")).username;
    return { id: bot.id, name: bot.username };
  };
  let asking: Promise<void> | undefined;
  /** Checks the token and requests the bot's name. Concurrent calls share one request. */
  const probe = (): Promise<void> =>
    (asking ??= standing.probe(learnName).finally(() => {
      asking = undefined;
    }));

  return {
    platform: "telegram",
    streams: config.streamMode === "edit",
    mediaMaxBytes,
    bot,
    receive: (payload) => {
      if (bot.username === undefined) void probe();
      return readTelegramUpdate(payload, { access, bot, moves, mediaMaxBytes });
    },
    unknownParts,
    moved: ({ former, chat }) => moves.note(former, chat),
    split: (text) => splitForTelegram(text, config.textChunkLimit),
    send: (target, text, _, buttons) =>
      standing.out(async () => {
        const id = await sender.send(target, text, buttons);
        return id === undefined ? {} : { id };
      }),
    files: {
      maxBytes: LARGEST_DOCUMENT,
      send: (target, file, caption) => standing.out(() => sender.sendFile(target, file, caption)),
    },
    answerPress: async ({ ticket, target, message }, word, done) => {
      const removed = done && message !== undefined ? sender.removeButtons(target, message) : undefined;
      await Promise.allSettled([sender.answerPress(ticket, word), removed]);
    },
    edit: (target, id, text) =>
      standing.out(() =>
        sender.edit(target, id, text).catch((error: unknown) => {
          throw readEditError(error);
        }),
      ),
    ...(ackReaction !== undefined && {
      react: (target: ReplyTarget, message: string) =>
        sender.react(target, message, ackReaction).catch((error: unknown) => {
          log.warn("a reaction could not be set", { platform: "telegram", error: String(error) });
        }),
    }),
    typing: (target) => sender.typing(target).catch(() => undefined),
    load: (attachment, signal) =>
      api.download(attachment.reference, mediaMaxBytes, signal).catch((error: unknown) => {
        throw readFileError(error, mediaMaxBytes);
      }),
    probe,
    health: (): ChannelHealth => {
      const { polledAt, reason } = intakeHealth(intake(bot.id), "telegram", clock());
      const health = standing.health({ ...(reason && { reason }), answered: polledAt !== undefined });
      return { ...health, ...(polledAt !== undefined && { polledAt }) };
    },
  };
}

/**
 * Returns the headers for the broker: the broker pass that `token` contains and, if set, the proxy to use for
 * Telegram.
 */
function brokerHeaders(token: string, proxy: string | undefined): Record<string, string> {
  const pass = credential("telegram", passOf(token));
  return proxy === undefined ? pass : { ...pass, [PROXY_HEADER]: proxy };
}

function readTelegramError(error: TelegramError): RetryableError | RefusedError {
  const options = { cause: error };
  const { status, message, retryAfterMs } = error;
  const refusal = readBrokerRefusal(error.brokerCode, error);
  if (refusal !== undefined) return refusal;
  if (error.tokenRefused) {
    return new RetryableError(
      "telegram_token_invalid",
      `Telegram refuses the bot token: ${message}.`,
      options,
    );
  }
  if (status === 429) {
    return new RetryableError("channel_failed", "Telegram's rate limit is reached.", {
      ...options,
      status: 429,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  // The chat refuses the bot or this text, so a retry would not help.
  if (status === 403 || status === 400) {
    const gone = status === 403 || /chat not found/i.test(message);
    return new RefusedError("reply_refused", `Telegram rejects the reply: ${message}.`, {
      ...options,
      gone,
    });
  }
  const code = status === 0 || status >= 500 ? "telegram_unreachable" : "channel_failed";
  return new RetryableError(code, `Telegram rejected the request: ${message}.`, options);
}

/**
 * Returns the error of a failed edit: `edit_refused` if Telegram refuses the edit, so that the caller can send a new
 * message.
 */
function readEditError(error: unknown): unknown {
  if (!(error instanceof TelegramError) || error.status !== 400) return error;
  return new RefusedError("edit_refused", `Telegram rejects the edit: ${error.message}.`, {
    cause: error,
  });
}

/** Returns the error of a failed download: a RetryableError only if a retry may help. */
function readFileError(error: unknown, maxBytes: number): unknown {
  if (error instanceof RangeError) {
    return new StewardError("channel_failed", `The file is larger than ${maxBytes} bytes.`, { cause: error });
  }
  if (!(error instanceof TelegramError)) return error;
  // Status 400 is final, for example "file is too big": Telegram lets bots download at most 20 MB.
  if (error.status !== 400) return readTelegramError(error);
  return new StewardError("channel_failed", `Telegram does not provide the file: ${error.message}.`, {
    cause: error,
  });
}
