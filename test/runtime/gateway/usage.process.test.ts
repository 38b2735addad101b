import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { UsageReport } from "../../../runtime/contract/control.ts";
import { SourceUsageStore } from "../../../runtime/gateway/models/usage.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { inOneDay, temporaryDirectory } from "../support/processes.ts";

const DAY_MS = 24 * 3_600_000;
const MODEL = "anthropic/claude-sonnet-4-5";

test("the usage tells 30 days of messages, tokens and prices", async () => {
  const { day, report } = await inOneDay(async (day) => {
    const { url, environment } = await surroundings();
    await startGateway(environment);
    await deliver(url, delivery("Ev1"));
    await deliver(url, delivery("Ev2"));
    await deliver(url, delivery("Ev2"));
    return { day, report: await askJson<UsageReport>(`${url}/usage`) };
  });

  const { days, messages, models, prices, sources } = report;
  expect(days).toHaveLength(30);
  expect(days.map((day) => Date.parse(day))).toEqual(
    Array.from({ length: 30 }, (_, index) => Date.parse(days[0] ?? "") + index * DAY_MS),
  );
  expect(days.at(-1)).toBe(day);
  const sum = (of: readonly number[]) => of.reduce((total, one) => total + one, 0);
  expect(sum(messages.map(({ received }) => received))).toBe(2);
  expect(sum(messages.map(({ answered }) => answered))).toBe(2);
  expect(sum(models.map(({ requests }) => requests))).toBe(2);
  expect(sum(models.map(({ outputTokens }) => outputTokens))).toBeGreaterThan(0);
  expect(prices).toEqual({ [MODEL]: { input: 3, output: 15 } });
  const shown = sources?.day.map(({ kind, platform, id, requests }) => [kind, platform, id, requests]);
  expect(shown).toEqual([
    ["person", "slack", "U1", 2],
    ["place", "slack", "C1", 2],
  ]);
  expect(sources?.month).toEqual(sources?.day);
});

test("persons and places are bounded: by rows of a day, by days, and by rows of a report", async () => {
  const database = openStore(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => database.close());
  const store = new SourceUsageStore(database);
  const at = Date.parse("2026-11-21T12:00:00Z");
  const answer = { model: MODEL, tokens: { input: 10, output: 1 } };
  store.add({ platform: "slack", person: "UOLD", place: "C1" }, answer, at - 30 * DAY_MS);
  for (let index = 0; index < 1_005; index += 1)
    store.add({ platform: "slack", person: `U${index}`, place: "C1" }, answer, at);
  store.add({ platform: "slack", person: "U7", place: "C1" }, answer, at);
  const rows = (kind: string) => database.prepare("SELECT * FROM usage_sources WHERE kind = ?").all(kind);
  expect(rows("person")).toHaveLength(1_001);
  expect(rows("place")).toHaveLength(1);
  const top = store.top("2026-11-01", 2).map(({ kind, id, requests }) => [kind, id, requests]);
  expect(top).toEqual([
    ["person", "U7", 2],
    ["person", "U0", 1],
    ["person", "", 1_003],
    ["place", "C1", 1_006],
  ]);
});

test("a price of the config goes before the published one", async () => {
  const { home, url, environment } = await surroundings();
  const price = { input: 0.5, output: 0 };
  await writeConfig(home, {}, { models: { prices: { [MODEL]: price, "openai/none": price } } });
  await startGateway(environment);
  await deliver(url, delivery("Ev1"));

  expect((await askJson<UsageReport>(`${url}/usage`)).prices).toEqual({ [MODEL]: price });
});
