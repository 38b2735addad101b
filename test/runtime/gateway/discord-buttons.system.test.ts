import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { command, directCommand, MASON, messageEvent } from "../../support/discord.ts";
import { discordSurroundings, GUILD } from "../support/discord.ts";
import { deliver, startGateway } from "../support/gateway.ts";
import { toolUseStream } from "../support/models.ts";
import { modelError } from "../support/platforms.ts";
import { eventually } from "../support/processes.ts";

const EVE = { user: { id: "78", username: "eve" } };
const DIRECT = { user: MASON };
const ON_SERVER = { guild_id: GUILD, channel_id: "645027906669510667", member: { user: MASON } };

/** A gateway with Discord, to which presses and messages are handed. */
async function gateway(keys: object = {}, agent: object = {}) {
  const around = await discordSurroundings();
  const channel = { token: { env: "DISCORD_BOT_TOKEN" }, groupPolicy: "open", streamMode: "off", ...keys };
  await writeFile(
    join(around.home, "steward.json"),
    JSON.stringify({ agent, channels: { discord: channel } }),
  );
  await startGateway(around.environment);
  let count = 0;
  const hand = async (payload: Record<string, unknown>) => {
    count += 1;
    const place = { platform: "discord", conversation: "discord:1", receivedAt: Date.now() };
    return (await deliver(around.url, { id: String(count), ...place, payload })).answer;
  };
  /** Hands a press, to which Discord got its first answer from the edge. */
  const press = (
    message: (typeof around.discord.messages)[number] | undefined,
    label: string,
    by: object,
  ) => {
    if (message === undefined) throw new Error("no message");
    const payload = around.discord.press(message, label, by);
    around.discord.defer(String(payload["token"]));
    return hand(payload);
  };
  return { ...around, hand, press };
}

/** The model calls the tool that asks, then ends. */
const asks = toolUseStream([
  {
    id: "c1",
    name: "ask_choices",
    input: { question: "Which?", choices: ["red", "blue", "green", "pink", "gold", "grey"] },
  },
]);

test("a choice comes as the next message of the person who was asked, and of nobody else", async () => {
  const { discord, model, hand, press } = await gateway({ dmPolicy: "open", allowFrom: ["*"] });
  model.next(asks);
  expect(await hand(messageEvent({ content: "paint it" }))).toMatchObject({ outcome: "answered" });
  const question = discord.messages.find(({ content }) => content === "Which?");
  expect(question?.buttons.map(({ label }) => label)).toEqual([
    "red",
    "blue",
    "green",
    "pink",
    "gold",
    "grey",
  ]);
  const sent = discord.calls.find(({ body }) => body["content"] === "Which?");
  expect(sent?.body["components"]).toMatchObject([
    { type: 1, components: { length: 5 } },
    { type: 1, components: { length: 1 } },
  ]);

  expect(await press(question, "red", EVE)).toMatchObject({ note: "a button: another's" });
  expect(discord.messages.at(-1)).toMatchObject({ content: "This button is not for you.", flags: 68 });
  expect(question?.buttons).toHaveLength(6);

  expect(await press(question, "blue", DIRECT)).toMatchObject({ outcome: "answered" });
  expect(question).toMatchObject({ content: "Which?\n✓ blue", buttons: [] });
  expect(model.asked().at(-1)?.at(-1)).toContain("blue");
  expect(discord.messages.at(-1)).toMatchObject({ place: "1094323234567890123" });
});

test("a question that a command leads to is answered by a button, and a failure has one that asks again", async () => {
  const { url, discord, model, deferred, press } = await gateway();
  model.next(asks);
  await deliver(url, deferred(command, "paint it"));
  const question = discord.messages.find(({ content }) => content === "Which?");
  expect(question).toMatchObject({ place: "645027906669510667", original: false, buttons: { length: 6 } });
  expect(discord.messages.at(-1)).toMatchObject({ original: true, buttons: [] });

  model.next(modelError(400, "invalid_request_error", "no"));
  const failing = await deliver(url, deferred(command, "is it me?"));
  expect(failing).toMatchObject({ answer: { outcome: "failed" } });
  const failure = discord.messages.at(-1);
  expect(failure?.buttons.map(({ label }) => label)).toEqual(["Try again"]);
  expect(await press(failure, "Try again", ON_SERVER)).toMatchObject({ outcome: "answered" });
  expect(model.asked().at(-1)?.at(-1)).toContain("is it me?");
});

test("an operator lets somebody in by a button, in the direct chat with the bot", async () => {
  const keys = { allowFrom: ["77"] };
  const { discord, hand, press } = await gateway(keys, { operators: ["discord:77"] });
  await hand(messageEvent({ content: "hello?" }));
  await eventually(() => discord.messages.some(({ buttons }) => buttons.length > 0));
  const question = discord.messages.find(({ buttons }) => buttons.length > 0);
  expect(question).toMatchObject({
    place: "770",
    content: `Mason @mason (${MASON.id}) asks for access on Discord. Let this person in?`,
  });

  expect(await press(question, "Let in", DIRECT)).toMatchObject({ note: "a button: another's" });
  expect(await press(question, "Let in", { user: { id: "77", username: "ada" } })).toMatchObject({
    outcome: "answered",
  });
  expect(question).toMatchObject({ content: expect.stringContaining("✓ Let in"), buttons: [] });
  expect(await hand(messageEvent({ content: "and now?" }))).toMatchObject({ outcome: "answered" });
});

test("a press whose time is over still takes the buttons away", async () => {
  const { discord, model, hand } = await gateway({ dmPolicy: "open", allowFrom: ["*"] });
  model.next(asks);
  await hand(messageEvent({ content: "paint it" }));
  const question = discord.messages.find(({ content }) => content === "Which?");
  if (question === undefined) throw new Error("no question");
  const late = discord.press(question, "blue", DIRECT);
  discord.expire(String(late["token"]));
  expect(await hand(late)).toMatchObject({ outcome: "answered" });
  expect(question).toMatchObject({ content: "Which?\n✓ blue", buttons: [] });
});

test("whoever may not write gets a word to a press alone", async () => {
  const { discord, hand } = await gateway();
  const foreign = { id: "5", place: "9", content: "" };
  const data = { component_type: 2, custom_id: "made-up" };
  const payload: Record<string, unknown> = { ...directCommand("x"), type: 3, data, message: foreign };
  discord.defer(String(payload["token"]));
  expect(await hand(payload)).toMatchObject({ note: "a button: another's" });
  expect(discord.messages).toMatchObject([{ flags: 68 }]);
});
