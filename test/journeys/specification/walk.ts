import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { StartWorld } from "./shared-world.ts";
import { JOURNEYS } from "./journeys.ts";
import { ELSEWHERE, ROWS, type Row } from "./rows.ts";

const JOURNEY_MS = 180_000;
const ROOT = path.join(import.meta.dirname, "../../..");
const NAMES = Object.keys(ROWS) as Row[];

/** Walks the rows of these sections. A journey of several rows is walked with the first of them. */
export function walkSections(start: StartWorld, sections: readonly string[]): void {
  const isHere = (row: Row): boolean => sections.includes(row[0] ?? "");

  test.each(NAMES.filter((row) => isHere(row) && JOURNEYS[row] === undefined))(
    "%s is walked elsewhere",
    async (row) => {
      const { file, test: title } = ELSEWHERE[row] ?? { file: "no journey", test: "" };
      expect(await readFile(path.join(ROOT, file), "utf8")).toContain(title);
    },
  );

  const journeys = [...new Set(Object.values(JOURNEYS))].map((journey) => {
    const rows = NAMES.filter((row) => JOURNEYS[row] === journey);
    return [rows.join("; "), rows[0], journey] as const;
  });
  test.each(journeys.filter(([, first]) => first !== undefined && isHere(first)))(
    "%s",
    async (_title, _first, journey) => {
      expect.hasAssertions();
      await journey(start);
    },
    JOURNEY_MS,
  );
}
