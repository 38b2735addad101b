import { StewardError } from "../../runtime/contract/errors.ts";
import { VERSION } from "../../runtime/contract/names.ts";
import { discordRoot } from "./endpoints.ts";
import { askPlatform, bodyFields } from "./platform-call.ts";

export interface DiscordBot {
  botToken: string;
  applicationId: string;
}

/** Discord's response. `refused` is true if Discord rejects the token. */
export type DiscordAnswer = { refused: true } | { refused: false; result: unknown };

/** Required by Discord: https://docs.discord.com/developers/reference#user-agent */
const USER_AGENT = `DiscordBot (steward, ${VERSION})`;

/** Sends a request to Discord's HTTP API as the bot: https://docs.discord.com/developers/reference */
export async function askDiscord(
  { botToken }: Pick<DiscordBot, "botToken">,
  method: "GET" | "PUT" | "PATCH",
  path: string,
  body?: unknown,
): Promise<DiscordAnswer> {
  const answer = await askPlatform(method, `${discordRoot()}${path}`, discordHeaders(botToken), body);
  const { status } = answer;
  if (status === 401) return { refused: true };
  if (status === 0 || status >= 500)
    throw new StewardError("registration_unreachable", "Discord did not answer");
  if (status < 300) return { refused: false, result: answer.body };
  throw discordRefusal(`Discord rejects ${method} ${path}: ${problemOf(answer.body, status)}`);
}

export function discordHeaders(botToken: string): Record<string, string> {
  return { authorization: `Bot ${botToken}`, "user-agent": USER_AGENT };
}

/** Like {@link askDiscord}, but throws StewardError `discord_token_invalid` if Discord rejects the token. */
export async function callDiscord(
  bot: DiscordBot,
  method: "GET" | "PUT" | "PATCH",
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await askDiscord(bot, method, path, body);
  if (answer.refused) throw new StewardError("discord_token_invalid", "Discord refuses the bot token");
  return answer.result;
}

export function discordRefusal(detail: string): Error {
  return new StewardError("registration_refused", detail);
}

/**
 * Returns Discord's general error message, joined with each field's message:
 * https://docs.discord.com/developers/reference#error-messages
 */
function problemOf(body: unknown, status: number): string {
  const { message, errors } = bodyFields(body);
  const words = JSON.stringify(errors ?? {}).matchAll(/"message":"([^"]*)"/g);
  const general = String(message ?? `status ${status}`);
  return [general, ...[...words].map(([, text]) => text)].join(": ");
}
