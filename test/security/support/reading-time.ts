import type { Family } from "./families.ts";

/** Four times the text takes four times as long if it is linear, and sixteen times if it is quadratic. */
export const MAX_GROWTH = 9;
/** A reader that takes longer is measured again, since another process may have disturbed it. */
export const MAX_MS = 200;
/** Below this a time says nothing about how it grows. */
const NOTICEABLE_MS = 60;
/** A text of an eighth takes less than this, or the whole could take hours. */
const HOPELESS_MS = 200;
/** The garbage collector or another process may disturb one. */
const ATTEMPTS = 4;

/** A function that reads text from outside. */
export type Read = (text: string) => unknown;

/** Processor time of this thread that a text takes. */
export interface ReadingTime {
  ms: number;
  /** Times a quarter of the text; 1 where that says nothing. */
  growth: number;
}

/** Measures how long a reader takes for a text of so many characters: the best of a few attempts if it seems slow. */
export async function readingTime(read: Read, { make }: Family, length: number): Promise<ReadingTime> {
  for (const part of [300, 8]) {
    const text = make(length / part);
    let ms = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && ms > HOPELESS_MS; attempt += 1)
      ms = Math.min(ms, await timeOf(read, text));
    if (ms > HOPELESS_MS) return { ms, growth: Number.POSITIVE_INFINITY };
  }
  const [whole, quarter] = [make(length), make(length / 4)];
  let [ms, ofQuarter, growth] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 1];
  for (let attempt = 0; attempt < ATTEMPTS && (ms > MAX_MS || growth > MAX_GROWTH); attempt += 1) {
    ms = Math.min(ms, await timeOf(read, whole));
    if (ms <= NOTICEABLE_MS) return { ms, growth: 1 };
    ofQuarter = Math.min(ofQuarter, await timeOf(read, quarter));
    growth = ms / Math.max(ofQuarter, NOTICEABLE_MS / 4);
  }
  return { ms, growth };
}

async function timeOf(read: Read, text: string): Promise<number> {
  const started = process.threadCpuUsage();
  await read(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}
