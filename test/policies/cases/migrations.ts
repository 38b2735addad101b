import { migration } from "../resources.ts";
import { adding, props, type Case } from "./case.ts";

export const MIGRATION_CASES: readonly Case[] = [
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
