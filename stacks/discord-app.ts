import * as pulumi from "@pulumi/pulumi";
import { discordHeaders } from "../infra/channels/discord-api.ts";
import { discordRoot } from "../infra/channels/endpoints.ts";
import { askPlatform, fieldsOf } from "../infra/channels/platform-call.ts";
import type { StackConfig } from "./config.ts";

/**
 * Warns, in a preview too, of a Discord app that anyone may add to a server of their own. Says nothing where Discord
 * does not answer: the bot's token is tried elsewhere.
 * https://docs.discord.com/developers/resources/application#application-object (`bot_public`)
 */
export function warnOfPublicDiscordApp({ runtime, endpoints }: StackConfig): void {
  const { DISCORD_BOT_TOKEN: token } = runtime.secrets;
  if (token === undefined) return;
  const root = discordRoot(endpoints.discord);
  token.apply(async (botToken) => {
    const answer = await askPlatform("GET", `${root}/applications/@me`, discordHeaders(botToken));
    if (fieldsOf(answer.body)["bot_public"] !== true) return;
    await pulumi.log.warn(
      "Anyone may add this Discord app to a server of their own (bot_public). It answers there only if " +
        "channels.discord.guilds in steward.json lists the server. To close it, switch off Public Bot on the app's " +
        "Bot page: https://discord.com/developers/applications",
    );
  });
}

/**
 * Says, in a preview too, what Discord cannot have on Cloudflare. Messages come over a connection that stays open
 * (https://docs.discord.com/developers/events/gateway), for which nothing may sleep.
 */
export function tellOfDiscordCommands({ runtime }: StackConfig): void {
  if (runtime.secrets.DISCORD_BOT_TOKEN === undefined) return;
  void pulumi.log.info(
    "Discord on Cloudflare has slash commands and buttons alone. Direct messages and mentions come over a connection that a " +
      "container which sleeps cannot keep: a host stack reads them.",
  );
}
