import { expect, test } from "vitest";
import {
  plannedChanges,
  type PlannedMigrations,
  refusedChanges,
} from "../../../infra/serverless/migration-list.ts";

const SANDBOX = ["Sandbox"];
const V1 = { tag: "v1", newSqliteClasses: SANDBOX };
const V2 = { tag: "v2", newSqliteClasses: SANDBOX };
const DEPLOYED: PlannedMigrations = { workerName: "one", migrations: [V1] };

test.each<[string, PlannedMigrations]>([
  ["nothing changes", DEPLOYED],
  ["a tag is added", { ...DEPLOYED, migrations: [V1, V2] }],
  ["the name changes with a new tag", { workerName: "two", migrations: [V1, V2] }],
])("nothing is refused where %s", (_what, planned) => {
  expect(refusedChanges(DEPLOYED, planned)).toEqual([]);
});

test.each<[string, PlannedMigrations, string]>([
  [
    "the name changes alone",
    { ...DEPLOYED, workerName: "two" },
    "without a new tag, v2 (migration_tag_missing)",
  ],
  [
    "an applied entry has other classes",
    { ...DEPLOYED, migrations: [{ tag: "v1", newSqliteClasses: ["Sandbox", "Archive"] }] },
    "v1 of steward:migrations is applied and not as it was (migration_changed)",
  ],
  ["the list is empty", { ...DEPLOYED, migrations: [] }, "v1 of steward:migrations is applied"],
])("it is refused where %s", (_what, planned, text) => {
  expect(refusedChanges(DEPLOYED, planned)).toEqual([expect.stringContaining(text)]);
});

test("an update that changes nothing has nothing to tell, and a new tag is told by its name", () => {
  expect(plannedChanges(DEPLOYED, DEPLOYED)).toEqual([]);
  expect(plannedChanges(DEPLOYED, { ...DEPLOYED, migrations: [V1, V2] })).toEqual([
    "Migrations: v2 to be applied",
  ]);
});
