import { deployment, migration } from "../resources.ts";
import { adding, all, props, type Case } from "./case.ts";

const RENAMED =
  "The Worker's name changes from steward to other without a new migration tag. Add an entry with the tag v2 to steward:migrations, or keep steward:workerName.";

export const MIGRATION_CASES: readonly Case[] = [
  {
    rule: "migration-follows-worker-name",
    what: "refuses another name with the same tags",
    change: props("worker", { name: "other" }),
    messages: [RENAMED],
  },
  {
    rule: "migration-follows-worker-name",
    what: "passes another name with a new tag",
    change: all(
      props("worker", { name: "other" }),
      adding(migration("v2", { oldTag: "v1", newTag: "v2" }), deployment("v2", "other")),
    ),
    messages: [],
  },
  {
    rule: "migration-follows-worker-name",
    what: "refuses a second change of the name with the tag of the first",
    change: all(
      props("worker", { name: "other" }),
      adding(migration("v2", { oldTag: "v1", newTag: "v2" }), deployment("v2", "between")),
    ),
    messages: [
      "The Worker's name changes from between to other without a new migration tag. Add an entry with the tag v3 to steward:migrations, or keep steward:workerName.",
    ],
  },
  {
    rule: "migration-tags-in-order",
    what: "passes a second tag that builds on the first",
    change: adding(migration("v2", { oldTag: "v1", newTag: "v2" })),
    messages: [],
  },
  {
    rule: "migration-tags-in-order",
    what: "refuses a gap",
    change: adding(migration("v3", { oldTag: "v2", newTag: "v3" })),
    messages: ["Migration 2 has the tag v3. Name it v2 in steward:migrations."],
  },
  {
    rule: "migration-tags-in-order",
    what: "refuses a tag of another form",
    change: props("v1", { migrations: { newTag: "first", newSqliteClasses: ["Sandbox"] } }),
    messages: ["Migration 1 has the tag first. Name it v1 in steward:migrations."],
  },
  {
    rule: "migration-tags-in-order",
    what: "refuses a tag that builds on nothing",
    change: adding(migration("v2", { newTag: "v2" })),
    messages: [
      "Migration v2 builds on nothing. Let it build on v1: steward:migrations lists the entries in their order.",
    ],
  },
  {
    rule: "sandbox-class-listed",
    what: "refuses a list without the class",
    change: props("v1", { migrations: { newTag: "v1", newSqliteClasses: ["Other"] } }),
    messages: [
      "No migration creates the class Sandbox. Add it to newSqliteClasses of an entry in steward:migrations.",
    ],
  },
  {
    rule: "sandbox-runs-containers",
    what: "refuses a migration that creates the class without containers",
    change: props("v1", { containers: [] }),
    messages: [
      'The class Sandbox is not container-enabled. Add {className: "Sandbox"} to the version\'s containers.',
    ],
  },
  {
    rule: "sandbox-runs-containers",
    what: "refuses a version that binds the class and enables another one",
    change: props("current", { containers: [{ className: "Other" }] }),
    messages: [
      'The class Sandbox is not container-enabled. Add {className: "Sandbox"} to the version\'s containers.',
    ],
  },
];
