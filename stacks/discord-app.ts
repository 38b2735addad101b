import * as pulumi from "@pulumi/pulumi";
import { discordHeaders } from "../infra/channels/discord-api.ts";
import { discordRoot } from "../infra/channels/endpoints.ts";
import { askPlatform, fieldsOf } from "../infra/channels/platform-call.ts";
import type { StackConfig } from "./config.ts";

/**
 * Warns, also in a preview, about a Discord app that anyone may add to their own server. Silent if Discord does not
 * respond: the bot's token is checked elsewhere.
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
 * Reports, also in a preview, that Discord on Cloudflare is limited to commands and buttons. Messages need a permanent
 * connection (https://docs.discord.com/developers/events/gateway), which a sleeping container cannot keep.
 */
export function tellOfDiscordCommands({ runtime }: StackConfig): void {
  if (runtime.secrets.DISCORD_BOT_TOKEN === undefined) return;
  void pulumi.log.info(
    "On Cloudflare, Discord is limited to slash commands and buttons. Direct messages and mentions need a permanent " +
      "connection, which a sleeping container cannot keep; a host stack receives them.",
  );
}
