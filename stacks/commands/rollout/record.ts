import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type RecordEntry, renderRolloutReport } from "./report.ts";

/** Record of one rollout: JSON lines and a Markdown report. A step proceeds only after its line is written. */
export class RolloutRecord {
  readonly file: string;
  readonly report: string;
  readonly #entries: RecordEntry[] = [];
  readonly #clock: () => Date;

  constructor(folder: string, clock: () => Date) {
    mkdirSync(folder, { recursive: true });
    this.#clock = clock;
    this.file = path.join(folder, `${clock().toISOString().replaceAll(":", "-")}.jsonl`);
    this.report = this.file.replace(/\.jsonl$/, ".md");
  }

  note(step: RecordEntry["step"], facts: Record<string, unknown> = {}): void {
    const entry: RecordEntry = { time: this.#clock().toISOString(), step, ...facts };
    appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
    this.#entries.push(entry);
    writeFileSync(this.report, renderRolloutReport(this.#entries));
  }
}

/**
 * Returns the entries of the last rollout that reached the step `updating`; `undefined` if there is none, or if it
 * has ended.
 */
export function readInterruptedRollout(folder: string): RecordEntry[] | undefined {
  const newest = newestRecord(folder, (entries) => entries.some(({ step }) => step === "updating"));
  return newest?.at(-1)?.step === "ended" ? undefined : newest;
}

/** Returns the entries of the newest rollout that `fits` accepts. */
export function newestRecord(
  folder: string,
  fits: (entries: RecordEntry[]) => boolean,
): RecordEntry[] | undefined {
  for (const name of filesOf(folder).toReversed()) {
    const lines = readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean);
    const entries = lines.flatMap(entryOf);
    if (fits(entries)) return entries;
  }
  return undefined;
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .sort();
  } catch {
    return [];
  }
}

/** Parses a line. Returns no entry for an invalid line, which a crash may have truncated. */
function entryOf(line: string): RecordEntry[] {
  try {
    return [JSON.parse(line) as RecordEntry];
  } catch {
    return [];
  }
}
