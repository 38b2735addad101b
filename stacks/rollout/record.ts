import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One line of a record: when, what, and what is known of it. No value of a secret. */
export interface Entry {
  /** ISO 8601 */
  time: string;
  step: "begun" | "planned" | "former" | "updating" | "canary" | "updated" | "failed" | "back" | "ended";
  [fact: string]: unknown;
}

/** The record of one rollout: JSON lines, each written before what it tells of goes on. */
export class RolloutRecord {
  readonly file: string;
  readonly #clock: () => Date;

  /** Begins one in `folder`, named by its time. */
  constructor(folder: string, clock: () => Date) {
    mkdirSync(folder, { recursive: true });
    this.#clock = clock;
    this.file = path.join(folder, `${clock().toISOString().replaceAll(":", "-")}.jsonl`);
  }

  note(step: Entry["step"], facts: Record<string, unknown> = {}): void {
    const entry: Entry = { time: this.#clock().toISOString(), step, ...facts };
    appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
  }
}

/** The entries of the newest rollout that has changed something, where it has no end: it was interrupted. */
export function interrupted(folder: string): Entry[] | undefined {
  const newest = recordsOf(folder).find((entries) => entries.some(({ step }) => step === "updating"));
  return newest?.at(-1)?.step === "ended" ? undefined : newest;
}

/** The entries of every rollout that is recorded in `folder`, the newest first. */
export function recordsOf(folder: string): Entry[][] {
  return filesOf(folder)
    .toReversed()
    .map((name) =>
      readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean).flatMap(entryOf),
    );
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

/** A last line may be cut off. */
function entryOf(line: string): Entry[] {
  try {
    return [JSON.parse(line) as Entry];
  } catch {
    return [];
  }
}
