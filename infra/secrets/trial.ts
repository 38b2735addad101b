import type { ServiceName, SERVICES } from "../../runtime/contract/services.ts";
import { askDiscord } from "../channels/discord-api.ts";
import { anthropicRoot, openaiRoot, slackRoot } from "../channels/endpoints.ts";
import { askPlatform, bodyFields } from "../channels/platform-call.ts";
import { askTelegram } from "../channels/telegram-api.ts";

/** Result of testing a secret. `silent`: the platform gave no clear answer. */
export type Verdict = "taken" | "refused" | "silent";

/**
 * Environment variable of a secret that can be tested with one request. A signing secret cannot be tested, because it
 * is used only for incoming events.
 */
export type TriedVariable = (typeof SERVICES)[ServiceName]["key"];

interface Trial {
  /** Stack key of the value. */
  key: string;
  platform: string;
  ask(value: string): Promise<Verdict>;
}

/** Errors about the token itself: https://docs.slack.dev/reference/methods/auth.test#errors */
const SLACK_REFUSALS =
  /^(invalid_auth|not_authed|account_inactive|token_revoked|token_expired|not_allowed_token_type)$/;

/** Read-only requests that check whether a service accepts a secret. */
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

/** Slack always answers with status 200: https://docs.slack.dev/reference/methods/auth.test */
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
 * Returns the verdict for an HTTP status. Only 401 rejects the key: a restricted key gets 403, and a server that
 * lists no models may respond 404.
 */
function verdictOf(status: number): Verdict {
  if (status === 401) return "refused";
  return status === 0 || status >= 500 ? "silent" : "taken";
}
