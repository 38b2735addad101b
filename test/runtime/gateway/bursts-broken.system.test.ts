import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolUseStream } from "../support/models.ts";
import { json, modelError, modelStream, type Answer } from "../support/platforms.ts";
import {
  deliver,
  deliverAll,
  delivery,
  startGateway,
  surroundings,
  writeConfig,
} from "../support/gateway.ts";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import { deliveriesOver, message } from "../support/deliveries.ts";
import { eventually } from "../support/processes.ts";
import { active, gate, said, say } from "../support/saying.ts";

test("a burst whose reply breaks off is finished by any of its messages, in the thread where it began", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await writeConfig(home, { textChunkLimit: 200 });
  const gateway = await startGateway(environment);
  const first = gate();
  model.next(
    async (response, call) => {
      await first.promise;
      return modelStream("first")(response, call);
    },
    modelStream(["a", "b", "c"].map((letter) => letter.repeat(150)).join("\n\n")),
  );
  const mention = (n: number) => delivery(`Ev${n}`, { text: `<@UBOT> m${n}`, ts: `${n}.1` });
  const running = deliver(url, mention(0));
  await eventually(() => model.calls.length === 1);
  const hung = gate();
  slack.next(
    json(200, { ok: true, ts: "1.1" }),
    json(200, { ok: true, ts: "1.2" }),
    async (response, call) => {
      await hung.promise;
      return json(200, { ok: true, ts: "1.3" })(response, call);
    },
  );
  const burst = deliverAll(url, [1, 2, 3].map(mention), "Ev0").catch(() => undefined);
  await active(url, 4);
  first.resolve();
  await running;
  await eventually(() => slack.calls.length === 3);
  gateway.kill("SIGKILL");
  await Promise.all([gateway.exited, burst]);
  hung.resolve();

  await startGateway(environment);
  for (const n of [1, 2, 3]) expect(await deliver(url, mention(n))).toMatchObject({ status: 200 });

  // "b" was on its way at the kill: the one that may come twice.
  expect(slack.posts().map(({ text, thread }) => [text?.[0], thread])).toEqual([
    ["f", "0.1"],
    ["a", "3.1"],
    ["b", "3.1"],
    ["b", "3.1"],
    ["c", "3.1"],
  ]);
  expect(model.calls).toHaveLength(2);
});

test("a run that fails takes with it what waits behind, with its Retry-After; tried again, the order holds", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  const first = gate();
  slack.next(async (response, call) => {
    await first.promise;
    return json(429, { ok: false, error: "ratelimited" }, { "retry-after": "30" })(response, call);
  });
  const running = say(url, "Ev1", "one");
  await eventually(() => slack.calls.length === 1);
  const waiting = say(url, "Ev2", "two", { after: "Ev1" });
  await active(url, 2);
  first.resolve();

  for (const result of [await running, await waiting]) {
    expect(result).toMatchObject({ status: 429, retryAfter: "30", answer: { code: "channel_failed" } });
  }
  // It was on its way while the one before it failed.
  expect(await say(url, "Ev3", "three", { after: "Ev2" })).toMatchObject({ status: 503 });
  expect(model.calls).toHaveLength(1);

  const again = await deliverAll(url, [said("Ev1", "one"), said("Ev2", "two"), said("Ev3", "three")]);
  expect(again.map(({ answer }) => answer["outcome"])).toEqual(["answered", "answered", "answered"]);
  expect(slack.posts()[1]?.text).toBe("You said: one");
  expect(model.calls).toHaveLength(2);
});

test("a platform that answers 500 gets the same reply again, without the model being asked again", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  slack.next(json(500, {}));

  expect(await say(url, "Ev1", "one")).toMatchObject({ status: 503, answer: { code: "channel_failed" } });
  expect(await say(url, "Ev1", "one")).toMatchObject({ status: 200 });

  expect(slack.posts().map(({ text }) => text)).toEqual(["You said: one", "You said: one"]);
  expect(model.calls).toHaveLength(1);
});

test("a platform that hangs holds up its own conversation alone, and a kill in the middle loses nothing", async () => {
  const { url, environment, model, slack } = await surroundings();
  const gateway = await startGateway(environment);
  slack.next(() => {});
  const hung = say(url, "Ev1", "one").catch(() => "cut off");
  await eventually(() => slack.calls.length === 1);

  expect(await deliver(url, delivery("Ev2", { channel: "C2" }))).toMatchObject({ status: 200 });
  gateway.kill("SIGKILL");
  expect(await hung).toBe("cut off");
  await startGateway(environment);

  expect(await say(url, "Ev1", "one")).toMatchObject({ answer: { outcome: "answered" } });
  expect(slack.posts().map(({ text }) => text)).toEqual([
    "You said: one",
    "You said: hello",
    "You said: one",
  ]);
  expect(model.calls).toHaveLength(2);
});

test("a stop of the gateway gives back what waits, and lets what runs end", async () => {
  const { url, environment, model } = await surroundings();
  const gateway = await startGateway(environment);
  const first = gate();
  model.next(async (response, call) => {
    await first.promise;
    return modelStream("first")(response, call);
  });
  const running = say(url, "Ev1", "one");
  await eventually(() => model.calls.length === 1);
  const waiting = say(url, "Ev2", "two");
  await active(url, 2);

  gateway.kill("SIGTERM");
  expect(await waiting).toMatchObject({ status: 503, answer: { code: "gateway_unavailable" } });
  first.resolve();
  expect(await running).toMatchObject({ status: 200, answer: { outcome: "answered" } });
  expect(await gateway.exited).toBe(0);
  expect(model.calls).toHaveLength(1);
});

test("a message of a burst that was killed is answered, too, where the others come back without it", async () => {
  const { url, environment, model, slack } = await surroundings();
  const never = gate();
  const hang: Answer = async (response, call) => {
    await never.promise;
    return json(200, { ok: true, ts: "1.1" })(response, call);
  };
  /** While a reply to the first message hangs, the others wait together. */
  const sayBehind = async (id: string, texts: string[]) => {
    const first = gate();
    const sent = slack.calls.length;
    slack.next(async (response, call) => {
      await first.promise;
      return json(200, { ok: true, ts: "1.1" })(response, call);
    });
    const running = say(url, id, id);
    await eventually(() => slack.calls.length === sent + 1);
    const burst: ReturnType<typeof say>[] = [];
    for (const text of texts) {
      burst.push(say(url, `Ev-${text}`, text));
      await active(url, 1 + burst.length);
    }
    first.resolve();
    await running;
    return burst;
  };
  const crash = async (gateway: Awaited<ReturnType<typeof startGateway>>) => {
    gateway.kill("SIGKILL");
    await gateway.exited;
  };

  let gateway = await startGateway(environment);
  model.next(modelStream("zero"), hang);
  for (const said of await sayBehind("Ev0", ["one", "two"])) said.catch(() => undefined);
  await eventually(() => model.calls.length === 2);
  await crash(gateway);
  expect(model.asked()[1]?.join("\n")).toMatch(/one[^]*two/);

  gateway = await startGateway(environment);
  slack.next(hang);
  void say(url, "Ev-two", "two").catch(() => undefined);
  await eventually(() => slack.calls.length === 2);
  await crash(gateway);

  await startGateway(environment);
  for (const result of await Promise.all(await sayBehind("Ev3", ["one", "two"]))) {
    expect(result.answer).toMatchObject({ outcome: "answered" });
  }
  never.resolve();
  const replies = slack.posts().map(({ text }) => text);
  expect(replies.filter((text) => text === "You said: two")).toHaveLength(2);
  expect(replies.at(-2)).toBe("You said: one");
});

test("a burst whose tools have run comes back as that burst: none of them runs again", async () => {
  const { url, home, environment, model } = await surroundings();
  await startGateway(environment);
  const first = gate();
  model.next(
    async (response, call) => {
      await first.promise;
      return modelStream("zero")(response, call);
    },
    toolUseStream([{ id: "c1", name: "remember", input: { text: "milk" } }]),
    modelError(429, "rate_limit_error", "slow down", { "retry-after": "3" }),
  );
  const running = say(url, "Ev0", "zero");
  await eventually(() => model.calls.length === 1);
  const both = [said("Ev1", "remember the milk"), said("Ev2", "please")];
  const burst = deliverAll(url, both, "Ev0");
  await active(url, 3);
  first.resolve();
  await running;
  for (const failed of await burst) expect(failed).toMatchObject({ status: 429 });
  await new Promise((resolve) => setTimeout(resolve, 3_100));

  // The edge hands both over again at once; whoever is asked alone would not know that it is done.
  model.next((response, call) =>
    call.body.includes("tool_result")
      ? modelStream("Noted.")(response, call)
      : toolUseStream([{ id: "c2", name: "remember", input: { text: "milk" } }])(response, call),
  );
  for (const result of await deliverAll(url, both))
    expect(result.answer).toMatchObject({ outcome: "answered" });

  const memory = await readFile(join(home, "workspace-chats/slack-C1/MEMORY.md"), "utf8");
  expect(memory.match(/milk/g)).toHaveLength(1);
});

test("what waits behind a failure that cannot pass, such as a schedule's run, is to come again itself", async () => {
  const first = gate();
  const { inbox } = await deliveriesOver(async () => {
    await first.promise;
    throw new TypeError("a fault of the first one alone");
  });
  const failing = inbox.deliver(message("1", "hi"));
  const behind = inbox.inTurn("telegram:1", async () => "run");
  const outcomes = Promise.allSettled([failing, behind]);
  await eventually(() => inbox.active === 1);
  first.resolve();

  expect(await outcomes).toMatchObject([
    { status: "rejected", reason: expect.any(TypeError) },
    { status: "rejected", reason: expect.any(RetryableError) },
  ]);
});
