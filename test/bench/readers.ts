import { FAMILIES } from "../security/support/families.ts";
import { MAX_GROWTH, MAX_MS, readingTime } from "../security/support/reading-time.ts";
import { READERS } from "../security/support/readers.ts";
import { figure, type Figure } from "../support/measure.ts";

const SIZE = 600_000;

/** Measures every function that reads text from outside on every family of hostile texts, once: it takes minutes. */
export async function benchReaders(log: (line: string) => void): Promise<Figure[]> {
  let slowest = 0;
  let growth = 0;
  for (const [file, named] of Object.entries(READERS))
    for (const [name, read] of Object.entries(named))
      for (const family of FAMILIES) {
        const time = await readingTime(read, family, SIZE);
        if (time.ms > Math.min(slowest, MAX_MS) || time.growth > MAX_GROWTH)
          log(`${file} ${name}, ${family.name}: ${time.ms.toFixed(0)} ms`);
        slowest = Math.max(slowest, time.ms);
        growth = Math.max(growth, time.growth);
      }
  return [
    figure("the slowest reader of foreign text, 600 kB: CPU", "ms", [slowest], MAX_MS),
    figure("its growth from a quarter of the text", "ratio", [growth], MAX_GROWTH),
  ];
}
