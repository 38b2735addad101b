import { readFile } from "node:fs/promises";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** How a file says that it takes its turn at names that exist once on a machine. */
const TAKES_TURNS = "await holdHostNames()";

/**
 * Spreads the files that take turns at a host's names over the run: two of them at the same time would hold two workers
 * for the work of one.
 */
export class SpreadTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const turns = new Set<TestSpecification>();
    for (const file of sorted) {
      if ((await readFile(file.moduleId, "utf8")).includes(TAKES_TURNS)) turns.add(file);
    }
    const spread = sorted.filter((file) => !turns.has(file));
    const distance = Math.ceil(sorted.length / Math.max(turns.size, 1));
    [...turns].forEach((file, turn) => spread.splice(turn * distance, 0, file));
    return spread;
  }
}
