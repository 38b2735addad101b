import { readFile } from "node:fs/promises";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A file's sign that it takes its turn at names that exist once on a machine. */
const TAKES_TURNS = /await holdHostNames\(\)/;
/** A file's sign that it mostly waits: it states a limit of five minutes or more. */
const WAITS = /timeout: [3-9]\d\d_000/;

/**
 * Spreads some files over the run. Two that take turns at a host's names hold two workers for the work of one if they run
 * at the same time. Several that mostly wait leave the processors idle if nothing else is left to run beside them.
 */
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

/** Returns the files with `some` inserted at equal distances into the first `share` of them. */
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
