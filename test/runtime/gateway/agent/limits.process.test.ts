import { expect, test } from "vitest";
import { agentBench, calls, PERSON, question, says } from "../../support/agent.ts";

const HOUR_MS = 3_600_000;
const byBob = { sender: { id: "U2", name: "Bob" }, admission: PERSON, text: "hello", images: [] };

test("a person above the limit of messages a minute is asked to wait, and nobody else is", async () => {
  const bench = await agentBench({ agent: { limits: { messagesPerMinute: 2 } } });
  const { answer, sessions } = bench.start();
  expect((await answer(question("1"))).text).toBe("done");
  // Another attempt of the same message, in another chat or not, is none of its own.
  expect((await answer(question("1"))).text).toBe("done");
  expect((await answer(question("2", "hi", { target: { chat: "C2" }, session: "slack:C2" }))).text).toBe(
    "done",
  );
  const refused = await answer(question("3", "the third"));
  expect(refused.text).toContain("more than 2 messages within a minute");
  expect(bench.asked).toHaveLength(2);
  expect(JSON.stringify(sessions.history("slack:C1", ["3"], 10))).not.toContain("the third");
  // Others behind it take nothing from one that was let through.
  expect((await answer(question("1"))).text).toBe("done");
  expect((await answer(question("4", "", { messages: [{ delivery: "4", ...byBob }] }))).text).toBe("done");
  bench.time.now += 60_000;
  expect((await answer(question("5"))).text).toBe("done");
  expect(bench.logged.map(({ message }) => message)).toContain("a limit is reached");
});

test("a chat and a person have so many tokens a day, over restarts, and new ones the next day", async () => {
  const bench = await agentBench({ agent: { limits: { tokensPerDay: 1_000 } } });
  const first = bench.start();
  bench.next(says("much", 1_200));
  expect((await first.answer(question("1"))).text).toBe("much");
  await first.close();

  const { answer } = bench.start();
  expect((await answer(question("2"))).text).toMatch(/^This chat has used today's 1000 tokens\./);
  const elsewhere = { target: { chat: "C2" }, conversation: "slack:C2" };
  expect((await answer(question("3", "hi", elsewhere))).text).toMatch(/^You have used/);

  expect(
    (await answer(question("4", "", { ...elsewhere, messages: [{ delivery: "4", ...byBob }] }))).text,
  ).toBe("done");
  expect(bench.asked).toHaveLength(2);
  bench.time.now += 12 * HOUR_MS;
  expect((await answer(question("5"))).text).toBe("done");
});

test("an answer in whose middle the tokens are used up ends, and says so", async () => {
  const bench = await agentBench({ agent: { limits: { tokensPerDay: 1_000 } } });
  const { answer } = bench.start();
  const much = calls({ id: "a", name: "list_files", input: {} });
  bench.next(async (request) => ({ ...(await much(request)), tokens: { input: 900, output: 100 } }));
  expect((await answer(question("1"))).text).toContain("used today's 1000 tokens");
  expect(bench.asked).toHaveLength(1);
});
