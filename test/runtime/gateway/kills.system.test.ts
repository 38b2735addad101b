import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { yieldForHangUp } from "../../../runtime/process/listen.ts";
import { json, modelStream, type Answer } from "../support/platforms.ts";
import { deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";

const KILLS = 12;
const CHANNELS = ["C1", "C2", "C3", "C4", "C5", "C6"];
const MESSAGES = 4;

/** The reply and its part that a message begins with. */
const labelOf = (text: string | null): string => text?.split(" ")[0] ?? "";

test("a gateway that is killed again and again answers everything, and repeats at most what was on its way", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await writeConfig(home, { textChunkLimit: 200 }, { agent: { noticeAfter: "1h" } });
  let answers = 0;
  const answer: Answer = (response, call) => {
    answers += 1;
    const paragraphs = ["a", "b", "c"].map((part) => `${answers}${part} ${"x".repeat(150)}`);
    return modelStream(paragraphs.join("\n\n"), { delayMs: 40 })(response, call);
  };
  // Longer than any run of this test asks.
  model.next(...Array.from({ length: 500 }, () => answer));
  /** By channel the last message: until the next one comes, the gateway has perhaps not heard of its answer. */
  const onTheirWay = new Map<string, string>();
  const slowly: Answer = async (response, call) => {
    const sent = new URLSearchParams(call.body);
    onTheirWay.set(sent.get("channel") ?? "", labelOf(sent.get("text")));
    await sleep(30);
    await json(200, { ok: true, ts: "1.1" })(response, call);
  };
  slack.next(...Array.from({ length: 500 }, () => slowly));
  const open = new Map(
    CHANNELS.flatMap((channel) =>
      Array.from({ length: MESSAGES }, (_, n) => {
        const id = `${channel}-${n}`;
        const event = delivery(id, { channel, ts: `${n + 1}.1`, text: `<@UBOT> ${id}` });
        return [id, n === 0 ? event : { ...event, after: `${channel}-${n - 1}` }] as const;
      }),
    ),
  );
  const round = () =>
    Promise.all(
      [...open].map(async ([id, event]) => {
        const result = await deliver(url, event).catch(() => undefined);
        if (result?.status === 200) open.delete(id);
      }),
    );

  /** By label: how often it was on its way at a kill. */
  const mayRepeat = new Map<string, number>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const gateway = await startGateway(environment);
    const posted = round();
    // In the middle of replies: some messages after the start, then wherever the others are.
    const until = slack.calls.length + 1 + (kill % 3);
    await eventually(() => slack.calls.length >= until || open.size === 0);
    gateway.kill("SIGKILL");
    const before = [...onTheirWay.values()];
    await Promise.all([gateway.exited, posted]);
    // Requests that it had sent may not have been read yet.
    await yieldForHangUp(new AbortController().signal);
    for (const label of new Set([...before, ...onTheirWay.values()])) {
      mayRepeat.set(label, (mayRepeat.get(label) ?? 0) + 1);
    }
  }
  await startGateway(environment);
  await round();

  expect([...open.keys()]).toEqual([]);
  const labels = slack.posts().map(({ text }) => labelOf(text));
  const replies = new Map<string, string[]>();
  for (const label of new Set(labels)) {
    const [, reply = "", part = ""] = /^(\d+)(\w)$/.exec(label) ?? [];
    replies.set(reply, [...(replies.get(reply) ?? []), part]);
  }
  for (const parts of replies.values()) expect(parts).toEqual(["a", "b", "c"]);
  const tooOften = [...new Set(labels)].filter(
    (label) => labels.filter((one) => one === label).length > 1 + (mayRepeat.get(label) ?? 0),
  );
  expect(tooOften).toEqual([]);
  const threads = new Map(slack.posts().map(({ text, thread }) => [labelOf(text), thread]));
  for (const reply of replies.keys()) {
    expect(new Set(["a", "b", "c"].map((part) => threads.get(`${reply}${part}`))).size).toBe(1);
  }
});
