import { describe, expect, it } from "vitest";
import { nameGeneration } from "../../../runtime/contract/backup.ts";
import { expiredGenerations, shrinkage } from "../../../runtime/backups/retention.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-21T12:30:00.000Z");

/** Generations made every `hours` hours up to now, the newest first. */
function made(count: number, hours: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: nameGeneration({ epoch: 1, sequence: count - index }),
    createdAt: new Date(NOW - index * hours * HOUR).toISOString(),
  }));
}

describe("which generations are kept", () => {
  it("keeps ten whatever their age, and of one alone that one", () => {
    expect(expiredGenerations([], NOW)).toEqual([]);
    expect(expiredGenerations(made(1, 1), NOW + 1_000 * 24 * HOUR)).toEqual([]);
    expect(expiredGenerations(made(10, 24 * 30), NOW)).toEqual([]);
  });

  it("keeps one a day for fourteen days beyond the newest ten, the last of each day", () => {
    const hourly = made(24 * 20, 1);
    const gone = new Set(expiredGenerations(hourly, NOW));
    const kept = hourly.filter(({ id }) => !gone.has(id)).map(({ createdAt }) => createdAt);

    expect(kept.slice(0, 10)).toEqual(hourly.slice(0, 10).map(({ createdAt }) => createdAt));
    expect(kept.slice(10).map((at) => at.slice(8, 13))).toEqual(
      Array.from({ length: 14 }, (_, index) => `${String(20 - index).padStart(2, "0")}T23`),
    );
  });

  it("does not depend on the order, and leaves what a clock ahead has made", () => {
    const hourly = made(100, 1);
    expect(expiredGenerations(hourly.toReversed(), NOW).toSorted()).toEqual(
      expiredGenerations(hourly, NOW).toSorted(),
    );
    const ahead = made(11, 24).map(({ id }) => ({ id, createdAt: `2030-01-${id.slice(-2)}T00:00:00Z` }));
    expect(expiredGenerations(ahead, NOW)).toEqual([]);
  });
});

describe("a copy that holds far less than the one before", () => {
  const before = { files: 900, sessions: 40, messages: 400, schedules: 30, approvals: 20 };

  it("is told with its figures", () => {
    expect(shrinkage(before, { ...before, messages: 12 })).toBe("messages fell from 400 to 12");
    expect(shrinkage(before, { ...before, sessions: 0, approvals: 9 })).toBe(
      "sessions fell from 40 to 0, approvals fell from 20 to 9",
    );
  });

  it("is taken at half and above, where little was there, and whatever the files and schedules do", () => {
    expect(shrinkage(before, { files: 0, sessions: 20, messages: 200, schedules: 0, approvals: 10 })).toBe(
      undefined,
    );
    const few = { files: 1, sessions: 19, messages: 19, schedules: 19, approvals: 19 };
    expect(shrinkage(few, { files: 0, sessions: 0, messages: 0, schedules: 0, approvals: 0 })).toBe(
      undefined,
    );
  });
});
