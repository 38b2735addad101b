import { describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "./support/families.ts";
import { READERS } from "./support/readers.ts";

// Not in a fast tier: more than a hundred hostile texts of 600 kB for each reader take some minutes.

const SIZE = 600_000;
const QUARTER = SIZE / 4;
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
/** No disturbance makes a time so many times longer: another attempt would show the same. */
const BEYOND_CHANCE = 20;

async function timeOf(read: (text: string) => unknown, text: string): Promise<number> {
  const started = process.threadCpuUsage();
  await read(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}

async function fastest(read: (text: string) => unknown, text: string, enough: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    best = Math.min(best, await timeOf(read, text));
    if (best <= enough || best > BEYOND_CHANCE * enough) break;
  }
  return best;
}

function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum += text.charCodeAt(at);
  return sum;
}

/** Returns how a reader's time is not linear, or is too long; `undefined` for a reader as it should be. */
async function slowness(
  read: (text: string) => unknown,
  { name, make }: Family,
): Promise<string | undefined> {
  // First a short one, so that an exponential reader is found before it takes hours.
  const short = await fastest(read, make(10_000), BOUND_MS);
  if (short > BOUND_MS) return `${name}: ${short.toFixed(0)} ms for 10 kB`;
  const quarter = await fastest(read, make(QUARTER), NOTICEABLE_MS / 4);
  if (quarter > 4 * BOUND_MS) return `${name}: ${quarter.toFixed(0)} ms for ${QUARTER / 1_000} kB`;
  const text = make(SIZE);
  const whole = await fastest(read, text, NOTICEABLE_MS);
  if (whole <= NOTICEABLE_MS) return undefined;
  const bound = Math.max(BOUND_MS, BOUND_SCANS * (await timeOf(scan, text)));
  if (whole <= bound && whole <= MOST_GROWTH * Math.max(quarter, NOTICEABLE_MS / 8)) return undefined;
  return `${name}: ${whole.toFixed(0)} ms for ${SIZE / 1_000} kB, ${quarter.toFixed(0)} ms for a quarter of it`;
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
