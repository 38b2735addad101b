import { readFile } from "node:fs/promises";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Matches test files that wait for each other. */
const TAKES_TURNS = /await holdHostNames\(\)/;
/** Matches test files that mostly wait: their timeout is five minutes or more. */
const WAITS = /timeout: [3-9]\d\d_000/;

/** Spreads test files that wait over the test run, so that all processors stay busy. */
export class SpreadTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const turns: TestSpecification[] = [];
    const waits: TestSpecification[] = [];
    const others: TestSpecification[] = [];
    for (const file of sorted) {
      const text = await readFile(file.moduleId, "utf8");
      (TAKES_TURNS.test(text) ? turns : WAITS.test(text) ? waits : others).push(file);
    }
    return spread(turns, spread(waits, others, 0.5), 1);
  }
}

/** Spreads `some` over the first part of `files`, of size `share` (0 to 1). */
function spread(
  some: readonly TestSpecification[],
  files: readonly TestSpecification[],
  share: number,
): TestSpecification[] {
  const result = [...files];
  const distance = Math.ceil((share * (files.length + some.length)) / Math.max(some.length, 1));
  for (const [turn, file] of some.entries()) result.splice(turn * distance, 0, file);
  return result;
}
