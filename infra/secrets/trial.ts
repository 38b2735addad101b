import type { ServiceName, SERVICES } from "../../runtime/contract/services.ts";
import { askDiscord } from "../channels/discord-api.ts";
import { anthropicRoot, openaiRoot, slackRoot } from "../channels/endpoints.ts";
import { askPlatform, bodyFields } from "../channels/platform-call.ts";
import { askTelegram } from "../channels/telegram-api.ts";

/** A platform's answer to a value: taken or refused, or nothing that tells. */
export type Verdict = "taken" | "refused" | "silent";

/** A service's key, which can be tried. Other secrets, such as a signing secret, only show when the platform sends. */
export type TriedVariable = (typeof SERVICES)[ServiceName]["key"];

interface Trial {
  /** The stack's key that holds the value. */
  key: string;
  platform: string;
  ask(value: string): Promise<Verdict>;
}

/** Slack's errors that mean the token: https://docs.slack.dev/reference/methods/auth.test#errors */
const SLACK_REFUSALS =
  /^(invalid_auth|not_authed|account_inactive|token_revoked|token_expired|not_allowed_token_type)$/;

/** Services that are asked about a secret, and how: questions that change nothing. */
export const TRIALS: Record<TriedVariable, Trial> = {
  ANTHROPIC_API_KEY: { key: "steward:anthropicApiKey", platform: "Anthropic", ask: askAnthropic },
  OPENAI_API_KEY: { key: "steward:openaiApiKey", platform: "The OpenAI endpoint", ask: askOpenai },
  SLACK_BOT_TOKEN: { key: "steward:slackBotToken", platform: "Slack", ask: askSlack },
  TELEGRAM_BOT_TOKEN: { key: "steward:telegramBotToken", platform: "Telegram", ask: askGetMe },
  DISCORD_BOT_TOKEN: { key: "steward:discordBotToken", platform: "Discord", ask: askCurrentUser },
};

/** https://platform.claude.com/docs/en/api/models-list */
async function askAnthropic(value: string): Promise<Verdict> {
  const headers = { "x-api-key": value, "anthropic-version": "2023-06-01" };
  return verdictOf((await askPlatform("GET", `${anthropicRoot()}/v1/models?limit=1`, headers)).status);
}

/** https://platform.openai.com/docs/api-reference/models/list */
async function askOpenai(value: string): Promise<Verdict> {
  const headers = { authorization: `Bearer ${value}` };
  return verdictOf((await askPlatform("GET", `${openaiRoot()}/models`, headers)).status);
}

/** https://docs.slack.dev/reference/methods/auth.test. Slack answers with status 200 in any case. */
async function askSlack(value: string): Promise<Verdict> {
  const headers = { authorization: `Bearer ${value}` };
  const { ok, error } = bodyFields((await askPlatform("POST", `${slackRoot()}/auth.test`, headers)).body);
  if (ok === true) return "taken";
  return SLACK_REFUSALS.test(String(error)) ? "refused" : "silent";
}

/** https://core.telegram.org/bots/api#getme */
async function askGetMe(value: string): Promise<Verdict> {
  const asked = askTelegram({ botToken: value }, "getMe");
  return asked.then(({ refused }) => (refused ? "refused" : "taken")).catch(() => "silent");
}

/** https://docs.discord.com/developers/resources/user#get-current-user */
async function askCurrentUser(value: string): Promise<Verdict> {
  const asked = askDiscord({ botToken: value }, "GET", "/users/@me");
  return asked.then(({ refused }) => (refused ? "refused" : "taken")).catch(() => "silent");
}

/**
 * Only 401 means the key. A key with few rights gets 403 here and may serve all the same, and a server that
 * speaks the protocol need not have a list of models.
 */
function verdictOf(status: number): Verdict {
  if (status === 401) return "refused";
  return status === 0 || status >= 500 ? "silent" : "taken";
}
