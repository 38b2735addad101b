import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import { turnStage as stage } from "../support/turns.ts";

const TOOK_PLACE = { outcome: "ignored", note: "edit: the text was replaced" };
const DELETED = { outcome: "ignored", note: "deleted before it was answered" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets everything happen that waits for no timer. */
const settle = () => vi.advanceTimersByTimeAsync(0);

describe("an edit before the answer begins", () => {
  test("takes the place of a text that waits, in the same request too", async () => {
    const { take, from, edit, turns } = await stage();
    const ends = take(from("1", "helo"), edit("2", "1", "hello"), from("3", "there"));
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([["hello", "there"]]);
    turns[0]?.end();
    expect(await Promise.all(ends)).toEqual([
      { outcome: "answered", note: "answered together with 3" },
      TOOK_PLACE,
      { outcome: "answered" },
    ]);
  });

  test("takes the files along, and the last of several counts", async () => {
    const { take, from, edit, turns } = await stage();
    const picture = { kind: "image", reference: "f", name: "a.png", sizeBytes: 9_999 };
    take(from("1", "a"), edit("2", "1", "b"), edit("3", "1", "c", { attachments: [picture] }));
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([["c\n[image: a.png, 10 kB, not read]"]]);
  });

  test("begins an answer over of which there is no word yet, and its sender reads one answer", async () => {
    const { say, from, edit, turns, calls } = await stage();
    const first = say(from("1", "two plus two"));
    await settle();
    const change = say(edit("2", "1", "two plus three"));
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([["two plus two"], ["two plus three"]]);
    turns[1]?.end("five");
    expect([await first, await change]).toEqual([{ outcome: "answered" }, TOOK_PLACE]);
    expect(calls.filter((call) => call.startsWith("send"))).toEqual(["send five"]);
  });

  test("that changes nothing lets the answer go on", async () => {
    const { say, from, edit, turns } = await stage();
    const first = say(from("1", "hello", { attachments: [{ kind: "image", reference: "f1" }] }));
    await settle();
    const change = say(edit("2", "1", "hello", { attachments: [{ kind: "image", reference: "f2" }] }));
    await settle();
    expect(turns).toHaveLength(1);
    turns[0]?.end();
    await first;
    expect(await change).toEqual({ outcome: "ignored", note: "edit: the text is the same" });
  });

  test("comes again with its message after a crash, and its text is what is answered", async () => {
    const { say, from, edit, turns, crash, take, calls } = await stage();
    void say(from("1", "helo"));
    void say(edit("2", "1", "hello"));
    await settle();
    crash();
    const ends = take(from("1", "helo"), edit("2", "1", "hello"));
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([["hello"], ["hello"]]);
    turns[1]?.end();
    expect(await Promise.all(ends)).toEqual([{ outcome: "answered" }, TOOK_PLACE]);
    // And once more, as if the end of both had not been told.
    crash();
    expect(await Promise.all(take(from("1", "helo"), edit("2", "1", "hello")))).toEqual([
      { outcome: "repeated" },
      { outcome: "ignored", note: "edit: the text is the same" },
    ]);
    expect(calls.filter((call) => call.startsWith("send"))).toHaveLength(1);
  });

  test("counts if its message was asked with the former text at an earlier attempt", async () => {
    const { say, from, edit, turns, take, sessions } = await stage();
    const first = say(from("1", "helo"));
    await settle();
    turns[0]?.fail(new RetryableError("model_overloaded", "busy"));
    await expect(first).rejects.toThrow("busy");
    const ends = take(from("1", "helo"), edit("2", "1", "hello"));
    await settle();
    turns[1]?.end();
    await Promise.all(ends);
    expect(sessions.history("telegram:1", ["1"], 10).question[0]?.said.text).toBe("hello");
  });

  test("fails with its message, so that both come again", async () => {
    const { take, from, edit, turns } = await stage();
    const ends = Promise.allSettled(take(from("1", "helo"), edit("2", "1", "hello")));
    await settle();
    turns[0]?.fail(new RetryableError("model_overloaded", "busy"));
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});

describe("an edit after the answer has begun", () => {
  test("is a question behind it, which names the former text", async () => {
    const { say, from, edit, turns } = await stage();
    const first = say(from("1", "two plus two"));
    await settle();
    turns[0]?.say("The sum");
    const changes = [say(edit("2", "1", "two plus three")), say(edit("3", "1", "two plus four"))];
    await settle();
    turns[0]?.end();
    await first;
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([["two plus two"], ["two plus four"]]);
    expect(turns[1]?.quoted).toMatchObject([[{ kind: "edit", text: "two plus two" }]]);
    turns[1]?.end();
    expect(await Promise.all(changes)).toEqual([{ outcome: "answered" }, TOOK_PLACE]);
  });

  test("is answered once if it is of the last question, and not at all if nothing is said anew", async () => {
    const { say, from, edit, turns } = await stage();
    const answered = async (delivery: ReturnType<typeof from>) => {
      const end = say(delivery);
      await settle();
      turns.at(-1)?.end();
      return end;
    };
    await answered(from("1", "two plus two"));
    expect(await answered(edit("2", "1", "two plus  two\n"))).toMatchObject({ outcome: "ignored" });
    expect(await answered(edit("3", "1", "two plus three"))).toEqual({ outcome: "answered" });
    expect(await answered(edit("4", "1", "two plus three"))).toMatchObject({ outcome: "ignored" });
    expect(await answered(edit("5", "1", "two plus four"))).toEqual({ outcome: "answered" });
    expect(turns.map(({ quoted }) => quoted[0]?.[0]?.text)).toEqual([
      undefined,
      "two plus two",
      "two plus three",
    ]);
  });

  test("of an earlier message is told with the next question, the newest text alone", async () => {
    const { say, from, edit, turns, sessions } = await stage();
    for (const id of ["1", "2"]) {
      const end = say(from(id, `question ${id}`));
      await settle();
      turns.at(-1)?.end();
      await end;
    }
    const note = { outcome: "ignored", note: "edit: earlier message, noted for the next answer" };
    expect(await say(edit("3", "1", "question one"))).toEqual(note);
    expect(await say(edit("4", "1", "question 1!"))).toEqual(note);
    const next = say(from("5", "and now?"));
    await settle();
    turns.at(-1)?.end();
    await next;
    expect(turns).toHaveLength(3);
    const [asked] = sessions.history("telegram:1", ["5"], 10).question;
    expect(asked?.said.asides).toMatchObject([{ text: "question 1!", was: "question 1" }]);
  });

  test("of a conversation that was started over changes nothing", async () => {
    const { say, from, edit, turns } = await stage();
    const end = say(from("1", "hello"));
    await settle();
    turns[0]?.end();
    await end;
    await say(from("2", "/new"));
    expect(await say(edit("3", "1", "hello you"))).toMatchObject({ outcome: "ignored" });
    expect(turns).toHaveLength(1);
  });

  test("that failed comes again as the same question", async () => {
    const { say, from, edit, turns, crash } = await stage();
    const first = say(from("1", "a"));
    await settle();
    turns[0]?.end();
    await first;
    void say(edit("2", "1", "b"));
    await settle();
    crash();
    const again = say(edit("2", "1", "b"));
    await settle();
    turns[2]?.end();
    expect(await again).toEqual({ outcome: "answered" });
  });
});

test("no command is run from an edit", async () => {
  const { say, from, edit, turns, calls } = await stage();
  const first = say(from("1", "hello"));
  await settle();
  expect(await say(edit("2", "1", "/stop"))).toEqual({
    outcome: "ignored",
    note: "edit: commands in edits are not run",
  });
  turns[0]?.end();
  await first;
  expect(calls.filter((call) => call.startsWith("send"))).toEqual(["send ok"]);
});

test("an edit of what the model was never asked, such as before its sender was let in, is a message", async () => {
  const { say, edit, turns } = await stage();
  const end = say(edit("2", "1", "hello?"));
  await settle();
  turns[0]?.end();
  expect(await end).toEqual({ outcome: "answered" });
  expect(turns[0]?.asked).toEqual(["hello?"]);
});

describe("in a group", () => {
  const group = { direct: false };
  const context = { ...group, kind: "context" };

  test("an edit of what was not for the bot changes the context", async () => {
    const { say, from, edit, turns, sessions } = await stage();
    await say(from("1", "lunch at noon", context));
    expect(await say(edit("2", "1", "lunch at one", context))).toMatchObject({ outcome: "ignored" });
    const end = say(from("3", "when?", group));
    await settle();
    turns[0]?.end();
    await end;
    const [asked] = sessions.history("telegram:1", ["3"], 10).question;
    expect(asked?.said.asides).toMatchObject([{ text: "lunch at one" }]);
  });

  test("an edit that mentions the bot is a message for it, and no context any more", async () => {
    const { say, from, edit, turns, sessions } = await stage();
    await say(from("1", "lunch?", context));
    const end = say(edit("2", "1", "lunch?", group));
    await settle();
    turns[0]?.end();
    expect(await end).toEqual({ outcome: "answered" });
    const [asked] = sessions.history("telegram:1", ["2"], 10).question;
    expect(asked?.said).toMatchObject({ text: "lunch?" });
    expect(asked?.said).not.toHaveProperty("asides");
  });

  test("an edit of a question that mentions the bot no more is told later", async () => {
    const { say, from, edit, turns, context: kept } = await stage();
    const end = say(from("1", "lunch?", group));
    await settle();
    turns[0]?.end();
    await end;
    expect(await say(edit("2", "1", "dinner?", context))).toMatchObject({ outcome: "ignored" });
    expect(kept.mock.calls.at(-1)?.[1]).toMatchObject({ text: "dinner?", was: "lunch?" });
  });
});

describe("a deletion", () => {
  test("before the answer begins cancels it, in the same request too", async () => {
    const { take, from, deletion, turns } = await stage();
    const ends = take(from("1", "hello"), deletion("2", "1"));
    await settle();
    expect(await Promise.all(ends)).toEqual([
      DELETED,
      { outcome: "ignored", note: "deletion: the message is not answered" },
    ]);
    expect(turns).toEqual([]);
  });

  test("ends an answer without a word, and leaves nothing of the question in the transcript", async () => {
    const { say, from, deletion, turns, calls, sessions, crash } = await stage();
    const first = say(from("1", "hello"));
    await settle();
    await say(deletion("2", "1"));
    expect(await first).toEqual(DELETED);
    turns[0]?.end();
    await settle();
    expect(calls.filter((call) => call.startsWith("send"))).toEqual([]);
    expect(sessions.knows("telegram:1", "1")).toBe(false);
    crash();
    expect(await say(from("1", "hello"))).toEqual({ outcome: "repeated" });
    const next = say(from("3", "next"));
    await settle();
    turns[1]?.end();
    expect(await next).toEqual({ outcome: "answered" });
  });

  test("of one of several messages lets the others be answered", async () => {
    const { take, say, from, deletion, turns } = await stage();
    const ends = take(from("1", "one"), from("2", "two"), from("3", "three"));
    await settle();
    await say(deletion("4", "3"));
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([
      ["one", "two", "three"],
      ["one", "two"],
    ]);
    turns[1]?.end();
    expect((await Promise.all(ends)).map(({ note }) => note)).toEqual([
      "answered together with 2",
      undefined,
      DELETED.note,
    ]);
  });

  test("after the first word, or of what nobody waits for, does nothing", async () => {
    const { say, from, deletion, turns } = await stage();
    const nothing = { outcome: "ignored", note: "deletion: no answer was pending" };
    const first = say(from("1", "hello"));
    await settle();
    turns[0]?.say("He");
    expect(await say(deletion("2", "1"))).toEqual(nothing);
    turns[0]?.end();
    expect(await first).toEqual({ outcome: "answered" });
    expect(await say(deletion("3", "1"))).toEqual(nothing);
  });
});

describe("a follow-up", () => {
  test("of the same person before the first word joins the question", async () => {
    const { say, from, turns, calls } = await stage();
    const ends = [say(from("1", "what do you think?"))];
    await settle();
    ends.push(say(from("2", "", { references: [{ kind: "forward", text: "the plan", attachments: [] }] })));
    await settle();
    ends.push(say(from("3", "quickly")));
    await settle();
    expect(turns.map(({ asked }) => asked)).toEqual([
      ["what do you think?"],
      ["what do you think?", ""],
      ["what do you think?", "", "quickly"],
    ]);
    turns[2]?.end();
    await Promise.all(ends);
    expect(calls.filter((call) => call.startsWith("send"))).toEqual(["send ok"]);
  });

  test("joins a question of five messages at most: each costs a request", async () => {
    const { say, from, turns } = await stage();
    for (const id of ["1", "2", "3", "4", "5", "6"]) {
      void say(from(id, id));
      await settle();
    }
    expect(turns).toHaveLength(5);
    turns[4]?.end();
    await settle();
    expect(turns[5]?.asked).toEqual(["6"]);
  });

  test("behind a command that waits for its turn is not answered before that", async () => {
    const { say, from, turns } = await stage();
    const ends = [say(from("1", "one"))];
    await settle();
    ends.push(say(from("2", "/new")), say(from("3", "three")));
    await settle();
    expect(turns).toHaveLength(1);
    turns[0]?.end();
    await settle();
    turns[1]?.end();
    await Promise.all(ends);
    expect(turns.map(({ asked }) => asked)).toEqual([["one"], ["three"]]);
  });

  test.each([
    ["after a word", async ({ turns }: Awaited<ReturnType<typeof stage>>) => turns[0]?.say("Well"), {}],
    ["later than a moment", async () => vi.advanceTimersByTimeAsync(5_000), {}],
    ["of somebody else", async () => {}, { sender: { id: "U2" } }],
    ["in a thread", async () => {}, { inThread: true, target: { chat: "1", thread: "t" } }],
    ["to a request that shows its answer", async () => {}, {}, { ticket: { token: "t", expiresAt: 1e15 } }],
  ])("%s waits for the end of the answer", async (_, before, inbound, ticket: object = {}) => {
    const all = await stage();
    const { say, from, turns } = all;
    const first = say(from("1", "one", { target: { chat: "1", ...ticket } }));
    await settle();
    await before(all);
    const second = say(from("2", "two", inbound));
    await settle();
    expect(turns).toHaveLength(1);
    turns[0]?.end();
    await first;
    await settle();
    turns[1]?.end();
    await second;
    expect(turns.map(({ asked }) => asked)).toEqual([["one"], ["two"]]);
  });

  test("while tools have run for the question waits for the end of the answer", async () => {
    const { say, from, turns, sessions } = await stage();
    const first = say(from("1", "one"));
    await settle();
    sessions.steps.add("telegram:1", "1", "", [{ id: "c", name: "remember", input: {} }], Date.now());
    const second = say(from("2", "two"));
    await settle();
    expect(turns).toHaveLength(1);
    turns[0]?.end();
    await first;
    await settle();
    turns[1]?.end();
    await second;
  });
});
