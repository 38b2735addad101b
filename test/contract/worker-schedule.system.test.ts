import { expect, onTestFinished, test } from "vitest";
import { mention } from "../../rehearsal/standins/slack.ts";
import { startWorker } from "../support/worker.ts";

async function worker(dueAt: number) {
  const config = {
    channels: {
      slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: { env: "SLACK_SIGNING_SECRET" } },
    },
    schedules: {
      soon: {
        at: new Date(dueAt).toISOString(),
        text: "It is time.",
        to: { platform: "slack", chat: "C0123456789" },
      },
    },
  };
  const service = await startWorker({ SANDBOX_SLEEP_AFTER: "1s" }, { config });
  onTestFinished(() => service.stop());
  return service;
}

test("a schedule runs in time although the container sleeps, and nobody writes", async () => {
  // Long enough for a slow start, a message and the sleep after it, and above what is worth a sleep.
  const dueAt = Date.now() + 90_000;
  const { postSlack, slack, inState } = await worker(dueAt);
  await postSlack(mention("wake up once"));
  await slack.waitFor(({ text }) => text.includes("wake up once"), 60_000);
  await inState("stopped");
  expect(Date.now()).toBeLessThan(dueAt);
  await slack.waitFor(({ text }) => text === "It is time.", 150_000);
  expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
  await inState("stopped");
  expect(slack.messages().filter(({ text }) => text === "It is time.")).toHaveLength(1);
}, 300_000);

test("the container does not go to sleep right before a schedule is due", async () => {
  const dueAt = Date.now() + 12_000;
  const { postSlack, slack, state } = await worker(dueAt);
  await postSlack(mention("wake up once"));
  await slack.waitFor(({ text }) => text.includes("wake up once"), 60_000);
  const states = new Set<string>();
  await expect
    .poll(
      async () => {
        const now = await state();
        const isOver = slack.messages().some(({ text }) => text === "It is time.");
        if (!isOver) states.add(now);
        return isOver;
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBe(true);
  // A supervisor that answers late counts as starting.
  expect([...states].filter((one) => one !== "starting")).toEqual(["ready"]);
}, 120_000);
