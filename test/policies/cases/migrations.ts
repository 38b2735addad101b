import { migrations } from "../resources.ts";
import { bound, props, type Case } from "./case.ts";

const DIRECTORY = bound("DIRECTORY", { type: "durable_object_namespace", className: "Directory" });
const entry = (tag: string, ...newSqliteClasses: string[]) => ({ tag, newSqliteClasses });

export const MIGRATION_CASES: readonly Case[] = [
  {
    rule: "migration-tags-in-order",
    what: "passes a second tag behind the first",
    change: props("migrations", migrations(entry("v1", "Sandbox"), entry("v2"))),
    messages: [],
  },
  {
    rule: "migration-tags-in-order",
    what: "refuses a gap",
    change: props("migrations", migrations(entry("v1", "Sandbox"), entry("v3"))),
    messages: ["Migration 2 has the tag v3. Name it v2 in steward:migrations."],
  },
  {
    rule: "migration-tags-in-order",
    what: "refuses a tag of another form",
    change: props("migrations", migrations(entry("first", "Sandbox"))),
    messages: ["Migration 1 has the tag first. Name it v1 in steward:migrations."],
  },
  {
    rule: "sandbox-class-listed",
    what: "refuses a list without the class",
    change: props("migrations", migrations(entry("v1", "Other"))),
    messages: [
      "No migration creates the class Sandbox. Add it to newSqliteClasses of an entry in steward:migrations.",
    ],
  },
  {
    rule: "sandbox-class-listed",
    what: "refuses a list without another class that the Worker binds",
    change: DIRECTORY,
    messages: [
      "No migration creates the class Directory. Add it to newSqliteClasses of an entry in steward:migrations.",
    ],
  },
  {
    rule: "sandbox-class-listed",
    what: "passes a Worker with the classes that its migrations create",
    change: (samples) => {
      DIRECTORY(samples);
      props("migrations", migrations(entry("v1", "Sandbox"), entry("v2", "Directory")))(samples);
    },
    messages: [],
  },
  {
    rule: "sandbox-class-listed",
    what: "passes another Worker's class",
    change: bound("OTHER", { type: "durable_object_namespace", className: "Other", scriptName: "other" }),
    messages: [],
  },
  {
    rule: "sandbox-runs-containers",
    what: "refuses migrations that create the class without containers",
    change: props("migrations", { containerClass: "Other" }),
    messages: ["The class Sandbox is not container-enabled. Set containerClass of the migrations to it."],
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
