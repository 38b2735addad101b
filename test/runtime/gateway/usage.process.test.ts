import { expect, test } from "vitest";
import type { UsageReport } from "../../../runtime/contract/control.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";

const DAY_MS = 24 * 3_600_000;
const MODEL = "anthropic/claude-sonnet-4-5";
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

test("the usage tells 30 days of messages, tokens and prices", async () => {
  const { url, environment } = await surroundings();
  await startGateway(environment);
  const before = Date.now();
  await deliver(url, delivery("Ev1"));
  await deliver(url, delivery("Ev2"));
  await deliver(url, delivery("Ev2"));

  const { days, messages, models, prices } = await askJson<UsageReport>(`${url}/usage`);

  expect(days).toHaveLength(30);
  expect(days.map((day) => Date.parse(day))).toEqual(
    Array.from({ length: 30 }, (_, index) => Date.parse(days[0] ?? "") + index * DAY_MS),
  );
  expect([dayOf(before), dayOf(Date.now())]).toContain(days.at(-1));
  const sum = (of: readonly number[]) => of.reduce((total, one) => total + one, 0);
  expect(sum(messages.map(({ received }) => received))).toBe(2);
  expect(sum(messages.map(({ answered }) => answered))).toBe(2);
  expect(sum(models.map(({ requests }) => requests))).toBe(2);
  expect(sum(models.map(({ outputTokens }) => outputTokens))).toBeGreaterThan(0);
  expect(prices).toEqual({ [MODEL]: { input: 3, output: 15 } });
});

test("a price of the config goes before the published one", async () => {
  const { home, url, environment } = await surroundings();
  const price = { input: 0.5, output: 0 };
  await writeConfig(home, {}, { models: { prices: { [MODEL]: price, "openai/none": price } } });
  await startGateway(environment);
  await deliver(url, delivery("Ev1"));

  expect((await askJson<UsageReport>(`${url}/usage`)).prices).toEqual({ [MODEL]: price });
});
