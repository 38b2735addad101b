import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { readCommand } from "../../../runtime/gateway/commands.ts";
import { usageText } from "../../../runtime/gateway/models/usage.ts";
import { json, modelStream } from "../support/platforms.ts";
import {
  askJson,
  deliver,
  delivery,
  directMessage,
  startGateway,
  surroundings,
  writeConfig,
} from "../support/gateway.ts";
import { pairingStore } from "../support/pairing.ts";
import { eventually, inOneDay } from "../support/processes.ts";

/** A gateway with two models, and what it answers to texts in one channel. */
async function chat(agent: object = {}, slack: object = {}) {
  const all = await surroundings();
  await writeConfig(all.home, slack, {
    agent,
    models: { primary: "anthropic/claude-sonnet-4-5", fallbacks: ["anthropic/claude-haiku-4-5"] },
  });
  const gateway = await startGateway(all.environment);
  let count = 0;
  const write = async (text: string, event: object = {}) => {
    count += 1;
    return deliver(all.url, delivery(`Ev${count}`, { text: `<@UBOT> ${text}`, ...event }));
  };
  /** Writes, and gives what was said to it. */
  const say = async (text: string, event: object = {}) => {
    await write(text, event);
    return all.slack.posts().at(-1)?.text ?? "";
  };
  /** The same in a direct chat. */
  const ask = async (text: string) => {
    count += 1;
    await deliver(all.url, directMessage(`Ev${count}`, { text }));
    return all.slack.posts().at(-1)?.text ?? "";
  };
  return { ...all, gateway, write, say, ask };
}

test.each([
  ["/status", { name: "status", argument: "" }],
  ["  /STATUS  ", { name: "status", argument: "" }],
  ["/status@steward_bot", { name: "status", argument: "" }],
  ["/model@steward_bot anthropic/x y", { name: "model", argument: "anthropic/x y" }],
  ["/new\nand then", { name: "new", argument: "and then" }],
  ["/stat", undefined],
  ["/usr/bin/env", undefined],
  ["/", undefined],
  ["/constructor", undefined],
  ["say /status", undefined],
  ["", undefined],
])("%j is read as what it is", (text, command) => {
  expect(readCommand(text)).toEqual(command);
});

test("/help names every command, /whoami the sender, and the model is asked for neither", async () => {
  const { say, model } = await chat();

  const help = await say("/help");
  for (const name of ["help", "status", "new", "reset", "model", "stop", "usage", "whoami"]) {
    expect(help).toContain(`/${name}`);
  }
  expect(await say("/WHOAMI", { user: "U7" })).toContain("Your Slack user id: U7");
  expect(model.calls).toHaveLength(0);
});

test("an unknown command is a text for the model", async () => {
  const { say } = await chat();
  expect(await say("/frobnicate it")).toBe("You said: /frobnicate it");
});

test("/status tells version, model, messages and channel", async () => {
  const { say } = await chat();
  await say("one");

  const status = await say("/status");

  expect(status).toContain("steward 0.1.0");
  expect(status).toContain("Model: anthropic/claude-sonnet-4-5");
  expect(status).toContain("This conversation: 2 messages");
  expect(status).toContain("Channel: Slack, ready");
});

test.each(["/new", "/reset"])(
  "%s begins a conversation anew, in its own place and only there",
  async (word) => {
    const { say, model } = await chat();
    await say("one");
    await say("elsewhere", { channel: "C2" });

    expect(await say(word)).toContain("Started a new conversation");
    await say("two");
    await say("again", { channel: "C2" });

    expect(model.asked().slice(2)).toEqual([
      ["user: two"],
      ["user: elsewhere", "assistant: You said: elsewhere", "user: again"],
    ]);
  },
);

test("/new that is tried again does not forget what came after it", async () => {
  const { url, say, model, slack } = await chat();
  const reset = delivery("Reset", { text: "<@UBOT> /new" });
  slack.next(json(500, {}));
  expect(await deliver(url, reset)).toMatchObject({ status: 503 });
  await say("one");

  expect(await deliver(url, reset)).toMatchObject({ answer: { outcome: "answered" } });
  await say("two");

  expect(model.asked().at(-1)).toEqual(["user: one", "assistant: You said: one", "user: two"]);
});

test("/model tells the models, chooses one that is configured, and goes back", async () => {
  const { say } = await chat();

  expect(await say("/model")).toContain("anthropic/claude-sonnet-4-5 (default, tried first here)");
  expect(await say("/model gpt-9")).toContain("I have no model of that name");
  expect(await say("/model Anthropic/Claude-Haiku-4-5")).toContain("anthropic/claude-haiku-4-5");
  expect(await say("/model")).toContain("anthropic/claude-haiku-4-5 (tried first here)");
  expect(await say("/status")).toContain("Model: anthropic/claude-haiku-4-5 (chosen for this chat)");
  expect(await say("/model", { channel: "C2" })).toContain("sonnet-4-5 (default, tried first here)");
  expect(await say("/model default")).toContain("anthropic/claude-sonnet-4-5");
  expect(await say("/model claude-haiku-4-5")).toContain("anthropic/claude-haiku-4-5");
  await say("/model DEFAULT");
  expect(await say("/model")).toContain("anthropic/claude-sonnet-4-5 (default, tried first here)");
});

test("/usage tells tokens of today by model", async () => {
  const { before, after } = await inOneDay(async () => {
    const { say, home, ask } = await chat({ operators: ["slack:U1"] });
    pairingStore(home).store.grant("U1", "person");
    const before = await ask("/usage");
    await say("one");
    return { before, after: await ask("/usage") };
  });
  expect(before).toContain("Today: nothing");
  expect(after).toMatch(/Today:\n• .*claude-sonnet-4-5: 12 tokens in, 34 out, 1 request\n/);
});

test("/usage tells a group nothing, also where an operator asks", async () => {
  const { say } = await chat({ operators: ["slack:U1"] });
  await say("one");
  expect(await say("/usage")).toBe("Total usage is not shown in groups. Ask in a direct chat.");
});

test("/usage and /whoami follow what was granted: a stranger under *, a person, an operator", async () => {
  const { ask, home } = await chat({}, { dmPolicy: "open", allowFrom: ["*"] });
  const { store } = pairingStore(home);
  await ask("one");
  const refused = '"slack:U1" has to be in agent.operators of the config file, or approved as an operator.';
  expect(await ask("/usage")).toContain(refused);
  expect(await ask("/whoami")).toContain("Your rights: a guest's: this bot is open to everyone");
  store.grant("U1", "person");
  expect(await ask("/usage")).toContain(refused);
  expect(await ask("/whoami")).toContain("Your rights: a person's");
  store.grant("U1", "operator");
  expect(await ask("/usage")).toContain("tokens in");
  expect(await ask("/whoami")).toContain("Your rights: an operator's");
  store.revoke("U1");
  expect(await ask("/usage")).toContain(refused);
});

test("/usage counts seven days by model and leaves out older ones", () => {
  const day = (day: string, model: string, inputTokens: number) => ({
    day,
    model,
    requests: 1,
    inputTokens,
    outputTokens: 1_000,
  });
  const usage = [
    day("2026-11-21", "a/x", 1),
    day("2026-11-16", "a/x", 2),
    day("2026-11-15", "a/y", 4),
    day("2026-11-14", "a/x", 8),
  ];

  expect(usageText(usage, Date.parse("2026-11-21T12:00:00Z"))).toBe(
    [
      "Today:",
      "- a/x: 1 tokens in, 1,000 out, 1 request",
      "Seven days:",
      "- a/x: 3 tokens in, 2,000 out, 2 requests",
      "- a/y: 4 tokens in, 1,000 out, 1 request",
    ].join("\n"),
  );
});

test("/stop ends the run under way and what waits, at once; nothing is said for them", async () => {
  const { url, model, slack, write } = await chat();
  model.next(() => {});
  const running = write("one");
  await eventually(() => model.calls.length === 1);
  const waiting = write("two");
  await eventually(async () => (await askJson<GatewayStatus>(`${url}/status`)).counts.active === 2);

  expect(await write("/stop")).toMatchObject({ answer: { outcome: "answered" } });

  const stopped = { status: 200, answer: { outcome: "ignored", note: "stopped" } };
  expect(await Promise.all([running, waiting])).toMatchObject([stopped, stopped]);
  expect(slack.posts().map(({ text }) => text)).toEqual(["Stopped."]);
  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ answer: { outcome: "repeated" } });
  expect(await deliver(url, delivery("Ev2"))).toMatchObject({ answer: { outcome: "repeated" } });
  await write("three");
  expect(slack.posts().at(-1)?.text).toContain("three");
  await write("/stop");
  expect(slack.posts().at(-1)?.text).toBe("Nothing was running.");
});

test("/stop between the messages of a reply keeps the rest from being sent, also after a restart", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await writeConfig(home, { textChunkLimit: 200 });
  const gateway = await startGateway(environment);
  model.next(modelStream(["a", "b"].map((letter) => letter.repeat(150)).join("\n\n")));
  const held = Promise.withResolvers<void>();
  slack.next(async (response, call) => {
    await held.promise;
    return json(200, { ok: true, ts: "1.1" })(response, call);
  });
  const running = deliver(url, delivery("Ev1"));
  await eventually(() => slack.calls.length === 1);

  await deliver(url, delivery("Ev2", { text: "<@UBOT> /stop" }));
  held.resolve();

  expect(await running).toMatchObject({ answer: { outcome: "ignored", note: "stopped" } });
  await deliver(url, delivery("Ev3", { text: "<@UBOT> three" }));
  expect(slack.posts().map(({ text }) => text?.[0])).toEqual(["a", "S", "Y"]);
  gateway.kill("SIGKILL");
  await gateway.exited;
  await startGateway(environment);
  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ answer: { outcome: "repeated" } });
});

test("a stranger's command is not carried out", async () => {
  const { url, model, slack } = await chat();
  await deliver(url, directMessage("Ev1", { text: "/status" }));
  expect(slack.posts()[0]?.text).toContain("I do not know you yet");
  expect(model.calls).toHaveLength(0);
});

test("/status is told while an answer is made; /new waits for its end", async () => {
  const { url, model, slack, write } = await chat();
  const held = Promise.withResolvers<void>();
  model.next(async (response, call) => {
    await held.promise;
    return modelStream("slow")(response, call);
  });
  const running = write("one");
  await eventually(() => model.calls.length === 1);
  const reset = write("/new");
  await eventually(async () => (await askJson<GatewayStatus>(`${url}/status`)).counts.active === 2);

  await write("/status");
  expect(slack.posts().map(({ text }) => text?.slice(0, 7))).toEqual(["steward"]);
  held.resolve();
  await Promise.all([running, reset]);

  expect(slack.posts().map(({ text }) => text?.slice(0, 5))).toEqual(["stewa", "slow", "Start"]);
});
