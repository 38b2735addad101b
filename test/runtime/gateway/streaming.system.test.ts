import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { AnswerOptions, Question } from "../../../runtime/gateway/agent/agent.ts";
import { RefusedError, RetryableError } from "../../../runtime/gateway/failure.ts";
import { deliveriesOver, message } from "../support/deliveries.ts";
import { eventually } from "../support/processes.ts";

// No platform's own stand-in here: how a reply grows is the same on every one that can edit.

const LONG = "x".repeat(50);
const lastOf = ({ messages }: Question): string => messages.at(-1)?.delivery ?? "";
const failed = (options = {}) => new RetryableError("channel_failed", "no", options);
/** Calls without the typing that a slow run shows again. */
const once = (calls: readonly string[]): string[] =>
  calls.filter((call, index) => call !== "typing" || index === calls.indexOf(call));
/** An agent that writes step by step; each step waits for what the test names. */
const writing =
  (...steps: [text: string, until: () => unknown][]) =>
  async (question: Question, { onText }: AnswerOptions) => {
    for (const [text, until] of steps) {
      onText?.(text);
      await eventually(async () => Boolean(await until()));
    }
    return { text: steps.at(-1)?.[0] ?? "", delivery: lastOf(question) };
  };

test("a reply grows in one message and ends with the whole text", async () => {
  const all = await deliveriesOver(
    writing(
      [LONG, () => all.calls.includes(`send ${LONG}`)],
      [`${LONG} more`, () => all.calls.includes(`edit 1 ${LONG} more`)],
      [`${LONG} more and the end.`, () => true],
    ),
    { streams: true },
  );

  expect(await all.inbox.deliver(message("1", "hi"))).toEqual({ outcome: "answered" });

  expect(once(all.calls)).toEqual([
    "typing",
    `send ${LONG}`,
    `edit 1 ${LONG} more`,
    `edit 1 ${LONG} more and the end.`,
  ]);
});

test("a reply longer than one message: the growing one becomes the first part, the others follow", async () => {
  const [a, b] = ["a".repeat(150), "b".repeat(150)];
  const all = await deliveriesOver(
    writing(
      [LONG, () => all.calls.includes(`send ${LONG}`)],
      [`${a}\n\n${b}`, () => all.calls.includes(`edit 1 ${a}`)],
    ),
    { streams: true },
  );

  await all.inbox.deliver(message("1", "hi"));

  expect(once(all.calls)).toEqual(["typing", `send ${LONG}`, `edit 1 ${a}`, `send ${b}`]);
});

test("a few words are shown after a while; a channel that cannot edit, or a short answer, is sent whole", async () => {
  const few = await deliveriesOver(writing(["Yes", () => few.calls.includes("send Yes")]), { streams: true });
  await few.inbox.deliver(message("1", "hi"));
  expect(once(few.calls)).toEqual(["typing", "send Yes"]);

  const short = await deliveriesOver(writing(["Yes", () => true]), { streams: true });
  await short.inbox.deliver(message("1", "hi"));
  expect(once(short.calls)).toEqual(["typing", "send Yes"]);

  const whole = await deliveriesOver(writing([LONG, () => true]), { streams: false });
  await whole.inbox.deliver(message("1", "hi"));
  expect(once(whole.calls)).toEqual(["typing", `send ${LONG}`]);
});

test("many words are few edits: one request at a time, and a second between two", async () => {
  let open = 0;
  let most = 0;
  const times: number[] = [];
  const all = await deliveriesOver(
    async (question, { onText }) => {
      let text = LONG;
      for (let step = 0; step < 250; step += 1) {
        onText?.((text += "y"));
        if (text.length > 190) text = LONG;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return { text, delivery: lastOf(question) };
    },
    {
      streams: true,
      edit: async () => {
        times.push(performance.now());
        most = Math.max(most, (open += 1));
        await new Promise((resolve) => setTimeout(resolve, 200));
        open -= 1;
      },
    },
  );

  await all.inbox.deliver(message("1", "hi"));

  expect(most).toBe(1);
  // The last of them is the whole text, which waits for nothing but the one before.
  const growing = times.slice(0, -1);
  expect(growing.length).toBeGreaterThan(0);
  const gaps = growing.slice(1).map((time, index) => time - (growing[index] ?? 0));
  expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
});

test("an edit that fails meanwhile is left out, the last one is tried again, and the model is not needed", async () => {
  let broken = true;
  let asked = 0;
  const edits: string[] = [];
  const all = await deliveriesOver(
    async (question, options) => {
      asked += 1;
      if (asked > 1) return { text: `${LONG} end`, delivery: lastOf(question) };
      return writing([LONG, () => all.calls.length > 1], [`${LONG} end`, () => edits.length > 0])(
        question,
        options,
      );
    },
    {
      streams: true,
      edit: async (_, id, text) => {
        edits.push(`${id} ${text}`);
        if (broken) throw failed();
      },
    },
  );

  await expect(all.inbox.deliver(message("1", "hi"))).rejects.toMatchObject({ code: "channel_failed" });
  broken = false;
  await all.again().inbox.deliver(message("1", "hi"));

  expect(edits.every((edit) => edit === `1 ${LONG} end`)).toBe(true);
  expect(edits).toHaveLength(3);
  expect(all.calls.filter((call) => call.startsWith("send"))).toHaveLength(1);
});

test("a reply is sent anew if its message cannot be edited any more, but not while the platform fails", async () => {
  let error: Error = failed();
  const all = await deliveriesOver(
    writing([LONG, () => all.calls.some((call) => call.startsWith("send"))], [`${LONG} end`, () => true]),
    {
      streams: true,
      edit: () => Promise.reject(error),
    },
  );
  await expect(all.inbox.deliver(message("1", "hi"))).rejects.toThrow("no");
  error = failed({ status: 429, retryAfterMs: 5_000 });
  await expect(all.inbox.deliver(message("1", "hi"))).rejects.toMatchObject({ retryAfterMs: 5_000 });
  error = failed();
  await expect(all.inbox.deliver(message("1", "hi"))).rejects.toThrow("no");
  error = new RefusedError("edit_refused", "gone");

  await all.inbox.deliver(message("1", "hi"));

  expect(all.calls.filter((call) => call.startsWith("send"))).toEqual([`send ${LONG}`, `send ${LONG} end`]);
});

test("a first message that fails is not tried twice: the whole reply follows once", async () => {
  let sends = 0;
  const all = await deliveriesOver(
    writing([LONG, () => sends === 1], [`${LONG}${LONG}`, () => sleep(1_500, true)]),
    {
      streams: true,
      send: async () => {
        sends += 1;
        if (sends === 1) throw failed();
        return { id: "2" };
      },
    },
  );

  expect(await all.inbox.deliver(message("1", "hi"))).toEqual({ outcome: "answered" });
  expect(sends).toBe(2);
});

test("a reply that was growing at a crash goes on growing in its message, also with fewer questions", async () => {
  let attempt = 0;
  const all = await deliveriesOver(
    async (question, options) => {
      attempt += 1;
      if (attempt === 1) {
        await eventually(() => all.inbox.active === 3);
        return { text: "first", delivery: lastOf(question) };
      }
      // The burst: it never ends, as in a process that is killed.
      if (attempt === 2) return writing([LONG, () => false])(question, options);
      return {
        text: `answer to ${question.messages.map(({ text }) => text).join()}`,
        delivery: lastOf(question),
      };
    },
    { streams: true },
  );
  const { inbox } = all;
  const one = inbox.deliver(message("1", "one"));
  await eventually(() => attempt === 1);
  const two = message("2", "two", { target: { chat: "1", thread: "t2" } });
  const three = message("3", "three", { target: { chat: "1", thread: "t3" } });
  void inbox.deliver(two).catch(() => undefined);
  void inbox.deliver(three).catch(() => undefined);
  await one;
  await eventually(() => all.calls.includes(`send@t3 ${LONG}`));

  const restarted = all.again().inbox;
  await restarted.deliver(two);
  await restarted.deliver(three);

  expect(all.calls.filter((call) => !call.startsWith("typing"))).toEqual([
    "send first",
    `send@t3 ${LONG}`,
    "edit@t3 2 answer to two",
    "send@t3 answer to three",
  ]);
});

test("a stop leaves what has grown and says no more there", async () => {
  const all = await deliveriesOver(
    (_, { signal, onText }) =>
      new Promise((_, reject) => {
        onText?.(LONG);
        signal.addEventListener("abort", () => reject(failed()), { once: true });
      }),
    { streams: true },
  );
  const running = all.inbox.deliver(message("1", "hi"));
  await eventually(() => all.calls.includes(`send ${LONG}`));

  await all.inbox.deliver(message("2", "/stop"));

  expect(await running).toEqual({ outcome: "ignored", note: "stopped" });
  expect(all.calls.filter((call) => call.startsWith("send"))).toEqual([`send ${LONG}`, "send Stopped."]);
  expect(await all.again().inbox.deliver(message("1", "hi"))).toEqual({ outcome: "repeated" });
});

test("typing is shown again while an answer is made, and no longer", async () => {
  const all = await deliveriesOver(writing(["Yes", () => all.calls.length >= 2]));

  await all.inbox.deliver(message("1", "hi"));
  expect(all.calls).toEqual(["typing", "typing", "send Yes"]);
  await new Promise((resolve) => setTimeout(resolve, 6_500));
  expect(all.calls).toHaveLength(3);
});

test("where typing costs a request, a quick answer does without", async () => {
  const quick = await deliveriesOver(writing(["Yes", () => true]), { typingAfterMs: 60_000 });
  await quick.inbox.deliver(message("1", "hi"));
  expect(quick.calls).toEqual(["send Yes"]);

  const slow = await deliveriesOver(writing(["Yes", () => slow.calls.length > 0]), { typingAfterMs: 1 });
  await slow.inbox.deliver(message("1", "hi"));
  expect(once(slow.calls)).toEqual(["typing", "send Yes"]);
});

test("a stopped run that does not end holds its conversation up for some seconds only", async () => {
  let asked = 0;
  const all = await deliveriesOver(async (question) => {
    asked += 1;
    if (asked === 1) await new Promise(() => {});
    return { text: "second", delivery: lastOf(question) };
  });
  const running = all.inbox.deliver(message("1", "hi"));
  await eventually(() => asked === 1);
  await all.inbox.deliver(message("2", "/stop"));

  expect(await running).toMatchObject({ note: "stopped" });
  expect(await all.inbox.deliver(message("3", "again"))).toEqual({ outcome: "answered" });
  expect(all.calls.filter((call) => call.startsWith("send"))).toEqual(["send Stopped.", "send second"]);
});
