import { afterEach, expect, test, vi } from "vitest";
import { Updates } from "../../rehearsal/standins/telegram-updates.ts";

afterEach(() => void vi.useRealTimers());

test("a stand-in that is started again gives no update an id that the service has seen", () => {
  vi.useFakeTimers({ now: Date.parse("2026-11-29T06:00:00Z"), toFake: ["Date"] });
  const before = new Updates();
  const seen = [before.add({}), before.add({})].map(({ update_id: id }) => id);
  vi.setSystemTime(Date.parse("2026-11-29T06:01:00Z"));
  expect(new Updates().add({}).update_id).toBeGreaterThan(Math.max(...seen));
});
