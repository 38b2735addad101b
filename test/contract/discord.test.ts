import { afterEach, expect, it } from "vitest";
import { startDiscord } from "../../infra/rehearsal/standins/discord.ts";
import { command, snowflake } from "../support/discord.ts";
import { startHost } from "../support/host.ts";

const ENDS: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ENDS.splice(0).toReversed()) await end();
});

/** A host that serves Discord, and Discord's side. */
async function host(config?: unknown) {
  const applicationId = "845027738276462632";
  const botToken = "MTIzNDU2.Gabcde.abcdefghijklmnopqrstuvwxyz";
  const discord = await startDiscord({ hostname: "127.0.0.1", port: 0, botToken, applicationId });
  ENDS.push(discord.close);
  const service = await startHost({
    environment: {
      DISCORD_BOT_TOKEN: botToken,
      DISCORD_PUBLIC_KEY: discord.publicKey,
      DISCORD_API_URL: discord.apiUrl,
    },
    ...(config !== undefined && { config }),
  });
  ENDS.push(service.stop);
  const endpoint = `${service.url}/discord/interactions`;
  const ask = (text: string, counter: number) =>
    discord.interact(
      endpoint,
      command(text, { id: snowflake(Date.now(), counter), token: `token-${counter}` }),
    );
  const answered = async (text: string) => {
    const deadline = Date.now() + 30_000;
    while (!discord.messages.some(({ content }) => content.includes(text))) {
      if (Date.now() > deadline) throw new Error(`no answer with "${text}"\n${service.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  return { ...service, discord, ask, answered };
}

it("a signed command is deferred at once and its answer is filled", async () => {
  const { inState, discord, ask, answered } = await host();
  await inState("ready");

  const response = await ask("what is up?", 1);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ type: 5 });
  await answered("what is up?");

  expect(discord.messages).toMatchObject([{ place: "token-1", original: true }]);
  expect(discord.pending()).toEqual([]);
});

it("a command that comes while the gateway is down is deferred too, and answered once it is up", async () => {
  const { inState, discord, ask, answered, writeConfig } = await host({ channels: { discord: { dm: {} } } });
  await inState("crash-looping");
  expect(await (await ask("are you there?", 1)).json()).toEqual({ type: 5 });
  expect(discord.pending()).toEqual(["token-1"]);

  await writeConfig({ channels: { discord: { token: { env: "DISCORD_BOT_TOKEN" } } } });
  await answered("are you there?");
  expect(discord.messages).toMatchObject([{ place: "token-1", original: true }]);
});
