import { describe, expect, test } from "vitest";
import { FAMILIES, type Family } from "./support/families.ts";
import { MAX_GROWTH, type Read, readingTime } from "./support/reading-time.ts";
import { READERS } from "./support/readers.ts";

// Not in a fast tier: two hundred hostile texts for each of a hundred readers take a minute or more. How long each takes
// for 600 kB is measured by `npm run bench -- --only readers`.

const SIZE = 60_000;
/** Generous, for slow machines: time that grows with the square of the text is found by its growth. */
const BOUND_MS = 1_000;
/** For all texts of one reader: it ends what hangs, and measures nothing. */
const READER_MS = 1_200_000;

/** Returns how a reader's time is not linear, or is too long; `undefined` for a reader as it should be. */
async function slowness(read: Read, family: Family, length = SIZE): Promise<string | undefined> {
  const { ms, growth } = await readingTime(read, family, length);
  if (ms <= BOUND_MS && growth <= MAX_GROWTH) return undefined;
  return `${family.name}: ${ms.toFixed(0)} ms, ${growth.toFixed(1)} times those of a quarter`;
}

const NAMED = Object.entries(READERS).flatMap(([file, named]) =>
  Object.entries(named).map(([name, read]) => ({ file, name, read })),
);

describe("what reads text from outside takes linear time", () => {
  test.each(NAMED)(
    "$file $name",
    async ({ read }) => {
      const slow: string[] = [];
      for (const family of FAMILIES) {
        const found = await slowness(read, family);
        if (found !== undefined) slow.push(found);
        // Each may take long, and one is enough to fail.
        if (slow.length > 2) break;
      }
      expect(slow).toEqual([]);
    },
    READER_MS,
  );

  test("one that does not is found", { timeout: READER_MS }, async () => {
    const hashes = { name: "#", make: (length: number) => `${"#".repeat(length)}!` };
    expect(await slowness((text) => /#+$/.test(text), hashes, SIZE / 2)).toContain("#");
    const openers = FAMILIES.find(({ name }) => name.startsWith('"<http:" repeated')) ?? hashes;
    const former = /<(https?:[^|>]+|mailto:[^|>]+)(?:\|([^>]*))?>/g;
    expect(await slowness((text) => text.replace(former, ""), openers, SIZE / 2)).toContain("<http:");
  });
});
