import { StewardError } from "../../runtime/contract/errors.ts";
import { telegramRoot } from "./endpoints.ts";
import { askPlatform, bodyFields } from "./platform-call.ts";

export interface TelegramBot {
  /** Part of every request's path, so error messages must never contain addresses. */
  botToken: string;
}

/** Telegram's response. `refused` is true if Telegram rejects the token. */
export type TelegramAnswer = { refused: true } | { refused: false; result: unknown };

/** Returns the bot's user id, the number before the token's colon. */
export function botIdOf(botToken: string): string {
  return botToken.split(":", 1)[0] ?? "";
}

/** Calls a method of the Bot API: https://core.telegram.org/bots/api#making-requests */
export async function askTelegram(
  { botToken }: TelegramBot,
  method: string,
  parameters: object = {},
): Promise<TelegramAnswer> {
  const token = botToken.replace(/[^\w:-]/g, encodeURIComponent);
  const address = `${telegramRoot()}/bot${token}/${method}`;
  const { status, body } = await askPlatform("POST", address, {}, parameters);
  // Telegram answers 401 to a revoked token and 404 to a malformed one.
  if (status === 401 || status === 404) return { refused: true };
  if (status === 0 || status >= 500)
    throw new StewardError("registration_unreachable", `Telegram did not answer ${method}`);
  const { ok, result, description } = bodyFields(body);
  if (ok === true) return { refused: false, result };
  throw new StewardError(
    "registration_refused",
    `Telegram rejects ${method}: ${String(description ?? status)}`,
  );
}

/**
 * Calls a method and returns its result.
 *
 * @throws StewardError `telegram_token_invalid` if Telegram rejects the token
 */
export async function callTelegram(
  bot: TelegramBot,
  method: string,
  parameters: object = {},
): Promise<unknown> {
  const answer = await askTelegram(bot, method, parameters);
  if (answer.refused) throw new StewardError("telegram_token_invalid", "Telegram refuses the bot token");
  return answer.result;
}
