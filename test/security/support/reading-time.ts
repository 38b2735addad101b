import type { Family } from "./families.ts";

/** Four times the text takes four times as long if it is linear, and sixteen times if it is quadratic. */
export const MOST_GROWTH = 9;
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

/** Measures how long a reader takes for a text of so many characters. */
export async function readingTime(read: Read, { make }: Family, length: number): Promise<ReadingTime> {
  const least = async (text: string): Promise<number> => {
    let ms = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && ms > NOTICEABLE_MS; attempt += 1)
      ms = Math.min(ms, await timeOf(read, text));
    return ms;
  };
  for (const part of [300, 8]) {
    const ms = await least(make(length / part));
    if (ms > HOPELESS_MS) return { ms, growth: Number.POSITIVE_INFINITY };
  }
  const ms = await least(make(length));
  if (ms <= NOTICEABLE_MS) return { ms, growth: 1 };
  return { ms, growth: ms / Math.max(await least(make(length / 4)), NOTICEABLE_MS / 4) };
}

async function timeOf(read: Read, text: string): Promise<number> {
  const started = process.threadCpuUsage();
  await read(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}
