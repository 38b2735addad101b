import { StewardError } from "../../runtime/contract/errors.ts";
import { VERSION } from "../../runtime/contract/names.ts";
import { discordRoot } from "./endpoints.ts";
import { askPlatform, bodyFields } from "./platform-call.ts";

/** An application, and its bot. */
export interface DiscordBot {
  botToken: string;
  applicationId: string;
}

/** Discord's answer; `refused` where it does not know the token. */
export type DiscordAnswer = { refused: true } | { refused: false; result: unknown };

/** Discord refuses requests without it: https://docs.discord.com/developers/reference#user-agent */
const USER_AGENT = `DiscordBot (steward, ${VERSION})`;

/** Asks Discord's HTTP API (https://docs.discord.com/developers/reference) as the bot. */
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
  throw discordRefusal(`Discord does not take ${method} ${path}: ${problemOf(answer.body, status)}`);
}

/** Returns the headers of a request that the bot sends to Discord. */
export function discordHeaders(botToken: string): Record<string, string> {
  return { authorization: `Bot ${botToken}`, "user-agent": USER_AGENT };
}

/** The answer; a token that Discord does not know is an error. */
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

/** Returns the error for something that Discord has refused or would refuse. */
export function discordRefusal(detail: string): Error {
  return new StewardError("registration_refused", detail);
}

/** The general message, and the words of the field that is wrong: https://docs.discord.com/developers/reference#error-messages */
function problemOf(body: unknown, status: number): string {
  const { message, errors } = bodyFields(body);
  const words = JSON.stringify(errors ?? {}).matchAll(/"message":"([^"]*)"/g);
  const general = String(message ?? `status ${status}`);
  return [general, ...[...words].map(([, text]) => text)].join(": ");
}
