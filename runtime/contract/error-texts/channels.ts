import type { ErrorText } from "./error-text.ts";

export const CHANNELS_ERRORS = {
  slack_token_expired: {
    status: 502,
    title: "Slack's OAuth token expired",
    cause: "Slack refuses the bot token as expired or revoked.",
    fix: "Reinstall the app in the workspace and set the new SLACK_BOT_TOKEN.",
  },
  slack_url_unverified: {
    status: 502,
    title: "Slack's URL verification failed",
    cause: "The webhook address did not echo the challenge from a test POST.",
    fix: 'Send {"type":"url_verification","challenge":"x"} by POST to <address>/slack/events must answer with {"challenge":"x"}. A 401 means that the webhooks are private: set steward:publicWebhooks (PUBLIC_WEBHOOKS) to true and deploy again. No answer means that the address is not reachable from the internet.',
  },
  channel_failed: {
    status: 503,
    title: "The chat platform refused the reply",
    cause: "The chat platform answered with an error.",
    fix: "Check the channel's token and its permissions.",
  },
  slack_file_elsewhere: {
    status: 403,
    title: "The file is not stored on Slack",
    cause:
      "The file's address is outside Slack's file host, the only place where steward sends the bot token.",
    fix: "Upload the file to Slack instead of linking it from another service.",
  },
  reply_refused: {
    status: 502,
    title: "The chat does not accept the bot's messages",
    cause: "The person blocked the bot, or the bot was removed from the chat or may not write there.",
    fix: "If this was intended, no action is needed. Otherwise unblock the bot, or add it again with permission to write.",
  },
  edit_refused: {
    status: 502,
    title: "The message can no longer be edited",
    cause: "The chat platform does not let the bot change this message: it was deleted or is too old.",
    fix: "No action needed: steward sends the rest as a new message.",
  },
  telegram_token_invalid: {
    status: 502,
    title: "Telegram refuses the bot token",
    cause: "The bot token is wrong, or it was revoked.",
    fix: "Copy the token from @BotFather into TELEGRAM_BOT_TOKEN (steward:telegramBotToken, channels.telegram.botToken) and restart or deploy again.",
  },
  telegram_conflict: {
    status: 502,
    title: "Another program receives Telegram's updates",
    cause: "Another program polls with this bot token, or a webhook was set for it.",
    fix: "Stop the other program, or use one bot per deployment. When steward restarts, it deletes the bot's webhook; to use a webhook, set channels.telegram.webhookUrl.",
  },
  telegram_stalled: {
    status: 502,
    title: "Polling has stalled",
    cause: "steward has not asked Telegram for updates for more than three minutes.",
    fix: "Read the log, check that this machine can reach api.telegram.org, then restart.",
  },
  telegram_unreachable: {
    status: 502,
    title: "Telegram does not answer",
    cause: "A request to Telegram's API got no answer, or a server error.",
    fix: "steward retries. If the error persists, check the network, the proxy and TELEGRAM_API_ROOT.",
  },
  telegram_webhook_failed: {
    status: 502,
    title: "Telegram refused the webhook",
    cause:
      "Telegram rejected channels.telegram.webhookUrl, or the webhook's secret is not the one that steward expects.",
    fix: 'Use an https address on port 443, 80, 88 or 8443 that ends in /telegram-webhook, and set webhookSecret to {"env": "TELEGRAM_WEBHOOK_SECRET"}. The secret must be 1 to 256 characters from A-Z, a-z, 0-9, _ and -.',
  },
  discord_token_invalid: {
    status: 502,
    title: "Discord refuses the bot token",
    cause: "The bot token is wrong or was reset.",
    fix: "Copy or reset the token on the Bot page of the Discord developer portal and set the new DISCORD_BOT_TOKEN (steward:discordBotToken).",
  },
  discord_intent_refused: {
    status: 502,
    title: "Discord refuses the Message Content intent",
    cause:
      "A server has requireMention: false, which needs the Message Content intent, and the application does not have it.",
    fix: "Switch on Message Content Intent on the Bot page of the Discord developer portal and restart the gateway, or remove requireMention: false from channels.discord.guilds.",
  },
  discord_connection_refused: {
    status: 502,
    title: "Discord refuses the connection",
    cause: "Discord closed the connection with a code that forbids reconnecting.",
    fix: "Look the code up in Discord's list of gateway close codes. If it is 4011, the bot is in too many servers for one connection: remove it from some. For any other code, update steward and restart.",
  },
  discord_session_limit: {
    status: 502,
    title: "Discord's session limit has been reached",
    cause: "Too many sessions were started with this bot token within 24 hours.",
    fix: "steward reconnects when Discord allows it again. Stop other programs that use the same bot token.",
  },
  discord_unreachable: {
    status: 502,
    title: "Discord cannot be reached",
    cause: "A request to Discord failed, or the connection to it was closed.",
    fix: "steward retries. If the error persists, check the network, discordstatus.com and DISCORD_API_URL.",
  },
  discord_stalled: {
    status: 502,
    title: "The connection to Discord is silent",
    cause: "Discord has not answered on the connection for more than three minutes.",
    fix: "Read the log, check that this machine can reach gateway.discord.gg, then restart.",
  },
  channel_not_configured: {
    status: 403,
    title: "The channel is not configured",
    cause: "The signing secret of this channel is not set.",
    fix: "Set the channel's signing secret and deploy again.",
  },
} as const satisfies Record<string, ErrorText>;
