import { onTestFinished } from "vitest";
import { startDiscord } from "../../../rehearsal/standins/discord.ts";
import { snowflake } from "../../../rehearsal/standins/discord-message.ts";
import { command } from "../../support/discord.ts";
import { surroundings } from "./gateway.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const DISCORD_BOT_TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.Gabcde.abcdefghijklmnopqrstuvwxyz0123456789ab";
export const APPLICATION = "845027738276462632";
export const GUILD = "290926798626357999";

/** A gateway's surroundings with Discord in the place of Slack; `keys` are the channel's. */
export async function discordSurroundings(keys: object = {}) {
  const around = await surroundings();
  const options = { hostname: "127.0.0.1", port: 0, botToken: DISCORD_BOT_TOKEN, applicationId: APPLICATION };
  const discord = await startDiscord(options);
  onTestFinished(() => discord.close());
  await mkdir(around.home, { recursive: true });
  const channel = { token: { env: "DISCORD_BOT_TOKEN" }, guilds: { [GUILD]: {} }, ...keys };
  await writeFile(join(around.home, "steward.json"), JSON.stringify({ channels: { discord: channel } }));
  // Slack's credentials would switch it on beside.
  const { SLACK_BOT_TOKEN: _, ...others } = around.environment;
  const environment: Record<string, string> = {
    ...others,
    DISCORD_BOT_TOKEN,
    DISCORD_API_URL: discord.apiUrl,
  };
  let count = 0;

  /** A delivery of an interaction that was deferred just now, or `ageMs` ago. */
  const deferred = (
    make: typeof command,
    text: string,
    { ageMs = 0, ...fields }: { ageMs?: number; [field: string]: unknown } = {},
  ) => {
    count += 1;
    const id = snowflake(Date.now() - ageMs, count);
    const payload = make(text, { id, token: `aW50ZXJhY3Rpb246${count}`, ...fields });
    discord.defer(String(payload["token"]));
    const conversation = `discord:${String(payload["channel_id"])}`;
    return { id, platform: "discord", conversation, receivedAt: Date.now(), payload };
  };
  /** What went out, but for the question whether the token is taken. */
  const calls = () => discord.calls.filter(({ path }) => path !== "/users/@me");
  return { ...around, discord, calls, environment, deferred };
}
