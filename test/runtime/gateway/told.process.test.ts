import { expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { command } from "../../support/discord.ts";
import { discordSurroundings } from "../support/discord.ts";
import { deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { type Answer, modelError, modelStream } from "../support/platforms.ts";

const LIMITED = modelError(429, "rate_limit_error", "slow down", { "retry-after": "60" });
const LIMITED_FOR_HOURS = modelError(429, "rate_limit_error", "slow down", { "retry-after": "21600" });
const OVERLOADED = modelError(529, "overloaded_error", "Overloaded");
const PAGE: Answer = (response) =>
  void response.writeHead(200, { "content-type": "text/html" }).end("<html>Please log in</html>");
const BREAKS: Answer = (response) =>
  void response.writeHead(200).write("event: message_start\n", () => response.destroy());

/** A gateway that posts to Slack, and asks its model anew with each delivery. */
async function stage(slack: object = { streamMode: "off" }, others: object = {}) {
  const around = await surroundings();
  await writeConfig(around.home, slack, { models: { cooldown: "1s" }, ...others });
  const start = () => startGateway(around.environment);
  return { ...around, start, gateway: await start() };
}

test.each([
  ["the model provider's rate limit is reached", "in about a minute", [LIMITED]],
  ["the model provider's rate limit is reached", "in about six hours", [LIMITED_FOR_HOURS]],
  ["the model provider is overloaded", "again for up to a day", [OVERLOADED, OVERLOADED, OVERLOADED]],
  [
    "the model's answer is empty each time",
    "up to a day",
    [modelStream(""), modelStream("\u200b"), modelStream(" ")],
  ],
  ["the model's answer breaks off each time", "up to a day", [BREAKS, BREAKS, BREAKS]],
  ["the server at the model's address is not a model", "up to a day", [PAGE, PAGE, PAGE]],
] satisfies [string, string, Answer[]][])(
  "the chat is told once that %s, and that it is tried %s",
  async (cause, when, answers) => {
    const { url, model, slack, gateway, start } = await stage();
    model.next(...answers);

    expect((await deliver(url, delivery("E1"))).status).toBeGreaterThanOrEqual(429);
    const [notice, ...others] = slack.posts();
    expect(notice).toMatchObject({ channel: "C1", thread: "100.1" });
    expect(notice?.text).toContain(`I cannot answer yet: ${cause}.`);
    expect(notice?.text).toContain(when);
    expect(others).toEqual([]);

    // Another process forgets how long to wait, and still knows what was said.
    gateway.kill("SIGTERM");
    await gateway.exited;
    await start();
    model.next(...answers);
    expect((await deliver(url, delivery("E1"))).status).toBeGreaterThanOrEqual(429);
    expect(slack.posts()).toHaveLength(1);
  },
);

test("a deferred answer of Discord shows it until the answer takes its place", async () => {
  const { url, environment, discord, model, deferred } = await discordSurroundings();
  const first = await startGateway(environment);
  model.next(LIMITED);
  const event = deferred(command, "hi");

  expect((await deliver(url, event)).status).toBe(429);
  expect(discord.messages).toMatchObject([
    { original: true, content: expect.stringContaining("rate limit is reached") },
  ]);
  first.kill("SIGTERM");
  await first.exited;
  await startGateway(environment);
  expect((await deliver(url, event)).status).toBe(200);
  expect(discord.messages).toMatchObject([{ original: true, content: expect.stringContaining("hi") }]);
});

test("the last attempt tells a second time, that no answer comes, and ends as failed", async () => {
  const { url, model, slack } = await stage();
  model.next(OVERLOADED, OVERLOADED, OVERLOADED);
  await deliver(url, delivery("E1"));
  model.next(OVERLOADED, OVERLOADED, OVERLOADED);

  const { answer } = await deliver(url, { ...delivery("E1"), last: true });

  expect(answer).toMatchObject({
    outcome: "failed",
    note: expect.stringContaining("The sender was notified."),
  });
  expect(slack.posts().map(({ text }) => text)).toEqual([
    expect.stringContaining("I cannot answer yet: the model provider is overloaded."),
    expect.stringContaining("I have tried for a day and cannot answer your message"),
  ]);
});

test("a refused key is told, ends as failed, and is asked again when the event is replayed", async () => {
  const { url, model, slack } = await stage();
  model.next(modelError(401, "authentication_error", "invalid x-api-key"));

  const { answer } = await deliver(url, delivery("E1"));

  expect(answer).toMatchObject({
    outcome: "failed",
    note: expect.stringMatching(/^model_key_invalid: .*notified\.$/),
  });
  expect(slack.posts().map(({ text }) => text)).toEqual([
    expect.stringContaining("Invalid API key provided"),
  ]);
  expect((await deliver(url, delivery("E1"))).answer).toMatchObject({ outcome: "answered" });
  expect(slack.posts().map(({ text }) => text)).toEqual([
    expect.stringContaining("Invalid API key provided"),
    "You said: hello",
  ]);
});

test("half an answer that breaks off gives its place to the notice, and that to the answer", async () => {
  const { url, model, slack } = await stage({ streamMode: "edit" });
  const slow: Answer = async (response, call) => {
    response.end = () => response;
    await modelStream("Half an answer", { cut: true })(response, call);
    // The stream stays open until the draft is shown, and breaks then.
    await eventually(() => slack.posts().length > 0);
    response.destroy();
  };
  model.next(slow, OVERLOADED, OVERLOADED);
  expect((await deliver(url, delivery("E1"))).status).toBe(503);
  expect((await deliver(url, delivery("E1"))).answer).toMatchObject({ outcome: "answered" });

  const shown = slack.posts().map(({ text }) => text);
  expect(shown[0]).toContain("Half an");
  expect(shown.at(-2)).toContain("I cannot answer yet");
  expect(shown.at(-1)).toBe("You said: hello");
});

test("without a word in time the chat is told, once for all that it has written before", async () => {
  const { url, model, slack } = await stage({ streamMode: "off" }, { agent: { noticeAfter: "1s" } });
  // The second message may come while the model is asked for the first, and is then asked along with it.
  const slow = modelStream("at last", { delayMs: 2_500 });
  model.next(slow, slow);
  const now = { receivedAt: Date.now() };

  const answers = await Promise.all([
    deliver(url, { ...delivery("E1"), ...now }),
    deliver(url, { ...delivery("E2", { text: "<@UBOT> and this" }), ...now }),
  ]);

  expect(answers.map(({ answer }) => answer["outcome"])).toEqual(["answered", "answered"]);
  const shown = slack.posts().map(({ text }) => text);
  expect(shown.filter((text) => text?.includes("has not begun to answer yet"))).toHaveLength(1);
  expect(shown).toContain("at last");
});
