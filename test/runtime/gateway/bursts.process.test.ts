import { expect, test } from "vitest";
import { modelStream } from "../support/platforms.ts";
import {
  deliver,
  deliverAll,
  delivery,
  directMessage,
  startGateway,
  surroundings,
} from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";
import { active, gate, said, say } from "../support/saying.ts";

test("five messages during a run are one question; each of them ends as answered", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  const first = gate();
  model.next(async (response, call) => {
    await first.promise;
    return modelStream("first")(response, call);
  });
  const running = say(url, "Ev0", "zero");
  await eventually(() => model.calls.length === 1);

  const burst = deliverAll(
    url,
    [1, 2, 3, 4, 5].map((n) => said(`Ev${n}`, `m${n}`)),
    "Ev0",
  );
  await active(url, 6);
  first.resolve();
  const results = [await running, ...(await burst)];

  expect(model.calls).toHaveLength(2);
  expect(slack.posts()).toHaveLength(2);
  expect(results.map(({ status, answer }) => [status, answer["outcome"]])).toEqual(
    Array.from({ length: 6 }, () => [200, "answered"]),
  );
  expect(results[1]?.answer["note"]).toBe("answered together with Ev5");
  expect(results[5]?.answer).not.toHaveProperty("note");
  const question = model.asked()[1]?.join("\n") ?? "";
  for (const n of [1, 2, 3, 4, 5]) expect(question).toContain(`m${n}`);
  for (const n of [1, 2, 3, 4, 5]) {
    expect(await say(url, `Ev${n}`, `m${n}`)).toMatchObject({ answer: { outcome: "repeated" } });
  }
  expect(model.calls).toHaveLength(2);
});

test("what comes in one request is one question from the start, and what cannot be read fails alone", async () => {
  const { url, environment, model } = await surroundings();
  await startGateway(environment);

  const ends = await deliverAll(url, [said("Ev1", "one"), { id: "Ev2" }, said("Ev3", "three")]);

  expect(ends.map(({ status, answer }) => [status, answer["outcome"] ?? answer["code"]])).toEqual([
    [200, "answered"],
    [400, "delivery_invalid"],
    [200, "answered"],
  ]);
  expect(model.asked()).toEqual([["user: one", "user: three"]]);
});

test("events behind one that is not under way and did not end well are given back, from an older edge too", async () => {
  const { url, environment, slack } = await surroundings();
  await startGateway(environment);

  for (const [end] of [
    await deliverAll(url, [said("Ev2", "two")], "Ev1"),
    [await say(url, "Ev2", "two", { after: "Ev1" })],
  ]) {
    expect(end).toMatchObject({ status: 503, answer: { code: "internal" } });
  }
  await say(url, "Ev1", "one");
  expect(await deliverAll(url, [said("Ev2", "two")], "Ev1")).toMatchObject([{ status: 200 }]);
  // One that needed no answer has ended well.
  await deliver(url, directMessage("Ev3", { bot_id: "B1" }));
  expect(await deliverAll(url, [said("Ev4", "four")], "Ev3")).toMatchObject([{ status: 200 }]);
  expect(slack.posts().map(({ text }) => text)).toEqual(
    ["one", "two", "four"].map((said) => `You said: ${said}`),
  );
});

test("fifty conversations go side by side, and none waits for one whose model is slow", async () => {
  const { url, environment, model } = await surroundings();
  await startGateway(environment);
  const slow = gate();
  model.next(async (response, call) => {
    await slow.promise;
    return modelStream("slow")(response, call);
  });
  let slowIsOut = false;
  const waiting = deliver(url, delivery("Ev0", { channel: "C0" })).finally(() => (slowIsOut = true));
  await eventually(() => model.calls.length === 1);

  const others = Array.from({ length: 49 }, (_, n) =>
    deliver(url, delivery(`Ev${n + 1}`, { channel: `C${n + 1}` })),
  );
  const results = await Promise.all(others);

  expect(results.every(({ answer }) => answer["outcome"] === "answered")).toBe(true);
  expect(slowIsOut).toBe(false);
  slow.resolve();
  expect(await waiting).toMatchObject({ answer: { outcome: "answered" } });
});

test("what was asked in different threads meanwhile is answered in each of them", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  const first = gate();
  model.next(async (response, call) => {
    await first.promise;
    return modelStream("zero")(response, call);
  });
  const running = say(url, "Ev0", "zero");
  await eventually(() => model.calls.length === 1);
  const inThread = (n: number, thread: string) =>
    delivery(`Ev${n}`, { text: `<@UBOT> m${n}`, ts: `${n}.1`, thread_ts: thread });
  const burst = deliverAll(url, [inThread(1, "8.8"), inThread(2, "8.8"), inThread(3, "9.9")]);
  await active(url, 4);
  first.resolve();
  await Promise.all([running, burst]);

  expect(slack.posts().map(({ text, thread }) => [text, thread])).toEqual([
    ["zero", "100.1"],
    ["You said: m2", "8.8"],
    ["You said: m3", "9.9"],
  ]);
});
