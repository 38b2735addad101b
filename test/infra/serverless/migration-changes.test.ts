import { expect, test } from "vitest";
import {
  type AppliedMigrations,
  appliedEntries,
  startsWithApplied,
  type Migration,
  pendingMigrations,
} from "../../../infra/serverless/migration-list.ts";

const list = (...entries: string[][]): Migration[] =>
  entries.map((classes, index) => ({ tag: `v${index + 1}`, newSqliteClasses: classes }));
const NOTHING: AppliedMigrations = { tag: undefined, classes: [] };
const FIRST: AppliedMigrations = { tag: "v1", classes: ["Sandbox"] };

test.each<[string, Migration[], AppliedMigrations]>([
  ["nothing is applied", list(["Sandbox"]), NOTHING],
  ["all of it is applied", list(["Sandbox"]), FIRST],
  ["a tag is added", list(["Sandbox"], ["Archive"]), FIRST],
  ["a class is repeated under a later tag", list(["Sandbox"], ["Sandbox"]), { ...FIRST, tag: "v2" }],
])("a list is as the account has it where %s", (_what, migrations, applied) => {
  expect(startsWithApplied(migrations, applied)).toBe(true);
});

test.each<[string, Migration[], AppliedMigrations, Migration[]]>([
  [
    "lacks an applied entry",
    list(["Sandbox"]),
    { tag: "v2", classes: ["Sandbox", "Other"] },
    list(["Sandbox"], ["Other"]),
  ],
  ["names a class that was never created", list(["Sandbox", "Archive"]), FIRST, list(["Sandbox"])],
  [
    "lacks a class that is there",
    list(["Sandbox"]),
    { tag: "v1", classes: ["Sandbox", "Other"] },
    list(["Sandbox", "Other"]),
  ],
  ["is empty", [], FIRST, list(["Sandbox"])],
])("a list that %s is told as the account has it", (_what, migrations, applied, written) => {
  expect(startsWithApplied(migrations, applied)).toBe(false);
  expect(appliedEntries(migrations, applied)).toEqual(written);
  expect(startsWithApplied(written, applied)).toBe(true);
});

test("a tag of another form can be followed by no list", () => {
  expect(startsWithApplied(list(["Sandbox"]), { tag: "first", classes: ["Sandbox"] })).toBe(false);
});

test("what is sent is all that is not applied, each class once", () => {
  const migrations = list(["Sandbox"], ["Sandbox"], ["Archive", "Sandbox", "Archive"]);

  expect(pendingMigrations(migrations, NOTHING)).toEqual({
    newTag: "v3",
    steps: [["Sandbox"], [], ["Archive"]],
    classes: ["Sandbox", "Archive"],
  });
  expect(pendingMigrations(migrations, { tag: "v2", classes: ["Sandbox"] })).toEqual({
    oldTag: "v2",
    newTag: "v3",
    steps: [["Archive"]],
    classes: ["Sandbox", "Archive"],
  });
  expect(pendingMigrations(migrations, { tag: "v3", classes: ["Sandbox", "Archive"] })).toBeUndefined();
});
