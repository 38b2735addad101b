import { expect, test } from "vitest";
import { modelStream } from "../support/platforms.ts";
import { deliver, delivery, directMessage, startGateway, surroundings } from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";
import { active, gate, say } from "../support/saying.ts";

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

  const burst = [1, 2, 3, 4, 5].map((n) =>
    say(url, `Ev${n}`, `m${n}`, n === 1 ? {} : { after: `Ev${n - 1}` }),
  );
  await active(url, 6);
  first.resolve();
  const results = await Promise.all([running, ...burst]);

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

test("a delivery waits for the one that it names as the one before, but not for ever", async () => {
  const { url, environment, model } = await surroundings();
  await startGateway(environment);
  model.next(modelStream("one", { delayMs: 200 }));

  const second = say(url, "Ev2", "two", { after: "Ev1" });
  await active(url, 1);
  const first = say(url, "Ev1", "one");
  await Promise.all([first, second]);
  expect(model.asked()[0]).toEqual(["user: one"]);
  expect(model.calls).toHaveLength(2);

  expect(await say(url, "Ev4", "four", { after: "Ev3" })).toMatchObject({ answer: { outcome: "answered" } });
  // A named one that was answered, or that needed no answer, is not waited for.
  await deliver(url, directMessage("Ev5", { bot_id: "B1" }));
  expect(await say(url, "Ev6", "six", { after: "Ev5" })).toMatchObject({ answer: { outcome: "answered" } });
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
  const inThread = (n: number, thread: string, after: string) =>
    deliver(url, {
      ...delivery(`Ev${n}`, { text: `<@UBOT> m${n}`, ts: `${n}.1`, thread_ts: thread }),
      after,
    });
  const burst = [inThread(1, "8.8", "Ev0"), inThread(2, "8.8", "Ev1"), inThread(3, "9.9", "Ev2")];
  await active(url, 4);
  first.resolve();
  await Promise.all([running, ...burst]);

  expect(slack.posts().map(({ text, thread }) => [text, thread])).toEqual([
    ["zero", "100.1"],
    ["You said: m2", "8.8"],
    ["You said: m3", "9.9"],
  ]);
});
