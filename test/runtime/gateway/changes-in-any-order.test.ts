import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Delivery, DeliveryOutcome } from "../../../runtime/contract/delivery.ts";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import { generator } from "../../support/random.ts";
import { turnStage } from "../support/turns.ts";

const STEPS = 60;
const WEIGHTS = {
  say: 5,
  edit: 5,
  delete: 2,
  word: 3,
  end: 5,
  fail: 2,
  retry: 3,
  crash: 1,
  time: 1,
} as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Step = keyof typeof WEIGHTS;

/** An event as the ledger holds it. */
interface Entry {
  delivery: Delivery;
  state: "waiting" | "under way" | DeliveryOutcome;
}

/** A message, with all of its texts. */
interface Said {
  sender: string;
  versions: string[];
  entry: Entry;
  deleted: boolean;
}

/** A chat over a ledger that hands events over in order, and again after a failure or a crash. */
async function chat(seed: number) {
  const random = generator(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const steps = Object.entries(WEIGHTS).flatMap(([step, weight]) => Array<Step>(weight).fill(step as Step));
  const stage = await turnStage();
  const { turns, from } = stage;
  const ledger: Entry[] = [];
  const messages: Said[] = [];
  const answered = new Map<string, string[]>();
  let era = 0;

  const open = () => ledger.filter(({ state }) => typeof state === "string");
  const handOver = () => {
    const due = open().filter(({ state }) => state === "waiting");
    for (const entry of due) entry.state = "under way";
    const now = era;
    for (const [index, end] of stage.take(...due.map(({ delivery }) => delivery)).entries()) {
      const entry = due[index];
      if (entry === undefined) continue;
      void end.then(
        (outcome) => now === era && (entry.state = outcome),
        () => now === era && (entry.state = "waiting"),
      );
    }
  };
  const arrives = (delivery: Delivery): Entry => {
    const entry: Entry = { delivery, state: "waiting" };
    const isFree = open().every(({ state }) => state === "under way");
    ledger.push(entry);
    if (isFree) handOver();
    return entry;
  };
  const running = () => turns.find((turn) => turn.open);
  const id = () => String(ledger.length + 1);

  const act = {
    say: () => {
      const sender = random() < 0.8 ? "U1" : "U2";
      const text = `m${messages.length}v0`;
      const entry = arrives(from(id(), text, { sender: { id: sender } }));
      messages.push({ sender, versions: [text], entry, deleted: false });
    },
    edit: () => {
      const message = pick(messages.filter(({ deleted }) => !deleted));
      if (message === undefined) return;
      const text = `${message.versions[0]?.slice(0, -1)}${message.versions.length}`;
      message.versions.push(text);
      const sender = { id: message.sender };
      arrives(stage.edit(id(), message.entry.delivery.id, text, { sender }));
    },
    delete: () => {
      const message = pick(
        messages.filter(({ entry, deleted }) => !deleted && typeof entry.state === "string"),
      );
      if (message === undefined) return;
      message.deleted = true;
      arrives(stage.deletion(id(), message.entry.delivery.id));
    },
    word: () => running()?.say("…"),
    end: () => {
      const turn = running();
      if (turn === undefined) return;
      const text = `answer ${answered.size}`;
      answered.set(text, turn.asked);
      turn.end(text);
    },
    fail: () => running()?.fail(new RetryableError("internal", "failed")),
    retry: handOver,
    crash: () => {
      era += 1;
      stage.crash();
      for (const entry of open()) entry.state = "waiting";
    },
    time: () => vi.advanceTimersByTimeAsync(6_000),
  };
  const step = async (what = pick(steps) ?? "say") => {
    await act[what]();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { ...stage, step, open, messages, answered };
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  "whatever people change and whatever fails, nothing is lost and nothing is answered twice: seed %i",
  async (seed) => {
    const { step, open, messages, answered, calls, sessions } = await chat(seed);
    for (let count = 0; count < STEPS; count += 1) await step();
    for (let count = 0; open().length > 0 && count < 200; count += 1) {
      await step("retry");
      await step("end");
    }
    expect(open()).toEqual([]);
    // What was noted is told with the next question.
    await step("say");
    await step("end");

    const sent = calls.filter((call) => call.startsWith("send")).map((call) => call.slice("send ".length));
    expect(new Set(sent).size).toBe(sent.length);
    const read = sent.flatMap((text) => answered.get(text) ?? []);
    expect(new Set(read).size).toBe(read.length);

    const asides = sessions
      .history(
        "telegram:1",
        Array.from({ length: 100 }, (_, index) => String(index + 1)),
        1_000,
      )
      .question.flatMap(({ said }) => said.asides ?? [])
      .map(({ text }) => String(text));
    const deleted = messages.filter(
      ({ entry }) => Object(entry.state).note === "deleted before it was answered",
    );
    expect(read.filter((text) => deleted.some(({ versions }) => versions.includes(text)))).toEqual([]);
    const lost = messages
      .filter((message) => !message.deleted)
      .map(({ versions }) => versions.at(-1) ?? "")
      .filter((text) => ![...read, ...asides].includes(text));
    expect(lost).toEqual([]);
  },
);
