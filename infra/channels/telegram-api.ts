import { StewardError } from "../../runtime/contract/errors.ts";
import { telegramRoot } from "./endpoints.ts";
import { askPlatform, fieldsOf } from "./platform-call.ts";

/** The bot. */
export interface TelegramBot {
  /** Part of the path of every request, so error messages never contain an address. */
  botToken: string;
}

/** Telegram's answer; `refused` where it does not know the token. */
export type TelegramAnswer = { refused: true } | { refused: false; result: unknown };

/** A bot's own user id: the number before the token's colon. */
export function botIdOf(botToken: string): string {
  return botToken.split(":", 1)[0] ?? "";
}

/** Calls a method of the Bot API (https://core.telegram.org/bots/api#making-requests). */
export async function askTelegram(
  { botToken }: TelegramBot,
  method: string,
  parameters: object = {},
): Promise<TelegramAnswer> {
  const token = botToken.replace(/[^\w:-]/g, encodeURIComponent);
  const address = `${telegramRoot()}/bot${token}/${method}`;
  const { status, body } = await askPlatform("POST", address, {}, parameters);
  // A revoked token is answered with 401, one of another form with 404.
  if (status === 401 || status === 404) return { refused: true };
  if (status === 0 || status >= 500)
    throw new StewardError("registration_unreachable", `Telegram did not answer ${method}`);
  const { ok, result, description } = fieldsOf(body);
  if (ok === true) return { refused: false, result };
  throw new StewardError(
    "registration_refused",
    `Telegram does not take ${method}: ${String(description ?? status)}`,
  );
}

/** The result of a method; a token that Telegram does not know is an error. */
export async function callTelegram(
  bot: TelegramBot,
  method: string,
  parameters: object = {},
): Promise<unknown> {
  const answer = await askTelegram(bot, method, parameters);
  if (answer.refused) throw new StewardError("telegram_token_invalid", "Telegram refuses the bot token");
  return answer.result;
}
