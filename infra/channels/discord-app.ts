import * as pulumi from "@pulumi/pulumi";
import { discordHeaders } from "./discord-api.ts";
import { discordRoot } from "./endpoints.ts";
import { askPlatform, bodyFields } from "./platform-call.ts";

/**
 * Warns, also in previews, if anyone may add the Discord app to a server: `bot_public` in
 * https://docs.discord.com/developers/resources/application#application-object. Ignores a failed request, because
 * another check reports an invalid token.
 *
 * @param token the bot's token; `undefined` without a bot
 * @param endpoint Discord's address, if not the default
 */
export function warnOfPublicDiscordApp(
  token: pulumi.Output<string> | undefined,
  endpoint: string | undefined,
): void {
  const root = discordRoot(endpoint);
  token?.apply(async (botToken) => {
    const answer = await askPlatform("GET", `${root}/applications/@me`, discordHeaders(botToken));
    if (bodyFields(answer.body)["bot_public"] !== true) return;
    await pulumi.log.warn(
      "Anyone may add this Discord app to a server of their own (bot_public). It answers there only if " +
        "channels.discord.guilds in steward.json lists the server. To close it, switch off Public Bot on the app's " +
        "Bot page: https://discord.com/developers/applications",
    );
  });
}

/**
 * Tells the operator, even in previews, that Discord on Cloudflare supports only commands and buttons. Messages need
 * a permanent connection (https://docs.discord.com/developers/events/gateway).
 */
export function tellOfDiscordCommands(): void {
  void pulumi.log.info(
    "On Cloudflare, Discord is limited to slash commands and buttons. Direct messages and mentions need a permanent " +
      "connection, which a sleeping container cannot keep; a host stack receives them.",
  );
}
