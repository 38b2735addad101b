import { describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "./support/families.ts";
import { READERS } from "./support/readers.ts";

// Not in a fast tier: more than a hundred hostile texts of 600 kB for each reader take two minutes.

const SIZE = 600_000;
/** The bound on a machine of today, in processor time of this thread: other work does not count. */
const BOUND_MS = 200;
/** On a slower machine the bound is so many times what it takes to look at each character of the text once. */
const BOUND_SCANS = 400;
/** Below this a time says nothing about how it grows. */
const NOTICEABLE_MS = 60;
/** Four times the text takes four times as long if it is linear, and sixteen times if it is quadratic. */
const MOST_GROWTH = 9;
/** The garbage collector or another process may disturb one. */
const ATTEMPTS = 4;

type Read = (text: string) => unknown;

async function timeOf(read: Read, text: string): Promise<number> {
  const started = process.threadCpuUsage();
  await read(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}

function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum += text.charCodeAt(at);
  return sum;
}

/** Returns how a reader's time is not linear, or is too long; `undefined` for a reader as it should be. */
async function slowness(read: Read, { name, make }: Family): Promise<string | undefined> {
  const times = new Map<number, number>();
  const fastest = async (length: number): Promise<number> => {
    const time = Math.min(times.get(length) ?? Number.POSITIVE_INFINITY, await timeOf(read, make(length)));
    times.set(length, time);
    return time;
  };
  const isSlow = async (): Promise<boolean> => {
    // First shorter ones, so that an exponential reader is found before it takes hours.
    for (const length of [SIZE / 60, SIZE / 20, SIZE / 8])
      if ((await fastest(length)) > BOUND_MS) return true;
    const whole = await fastest(SIZE);
    if (whole <= NOTICEABLE_MS) return false;
    const quarter = await fastest(SIZE / 4);
    const bound = Math.max(BOUND_MS, BOUND_SCANS * (await timeOf(scan, make(SIZE))));
    return whole > bound || whole > MOST_GROWTH * Math.max(quarter, NOTICEABLE_MS / 4);
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) if (!(await isSlow())) return undefined;
  const told = [...times].map(([length, time]) => `${time.toFixed(0)} ms for ${length} characters`);
  return `${name}: ${told.join(", ")}`;
}

const NAMED = Object.entries(READERS).flatMap(([file, named]) =>
  Object.entries(named).map(([name, read]) => ({ file, name, read })),
);

describe("what reads text from outside takes linear time, and less than 200 ms for 600 kB", () => {
  test.each(NAMED)("$file $name", { timeout: 300_000 }, async ({ read }) => {
    const slow: string[] = [];
    for (const family of FAMILIES) {
      const found = await slowness(read, family);
      if (found !== undefined) slow.push(found);
      // Each may take long, and one is enough to fail.
      if (slow.length > 2) break;
    }
    expect(slow).toEqual([]);
  });

  test("one that does not is found", async () => {
    const hashes = { name: "#", make: (length: number) => `${"#".repeat(length)}!` };
    expect(await slowness((text) => /#+$/.test(text), hashes)).toContain("#");
    const openers = FAMILIES.find(({ name }) => name.startsWith('"<http:" repeated')) ?? hashes;
    const former = /<(https?:[^|>]+|mailto:[^|>]+)(?:\|([^>]*))?>/g;
    expect(await slowness((text) => text.replace(former, ""), openers)).toContain("<http:");
  });
});
