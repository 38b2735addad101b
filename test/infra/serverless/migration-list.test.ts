import { describe, expect, test } from "vitest";
import {
  checkMigrations,
  renamingLines,
  repairedMigrations,
} from "../../../infra/serverless/migration-list.ts";

describe("a list of migrations", () => {
  test("is told everything that is wrong with it", () => {
    const problems = checkMigrations(
      [
        { tag: "v1", newSqliteClasses: ["not a class"] },
        { tag: "v3", newSqliteClasses: [] },
      ],
      ["Sandbox"],
    );

    expect(problems).toEqual([
      'entry 2 has the tag "v3", expected "v2"',
      '"not a class" of v1 is not a class name',
      "no entry creates the class Sandbox",
    ]);
  });

  test.each([
    [[], ["v1:Sandbox"]],
    [["v3:Sandbox"], ["v1:Sandbox", "v2:Sandbox", "v3:Sandbox"]],
    [
      ["v1:Sandbox", "v3:Archive"],
      ["v1:Sandbox", "v2:Archive", "v3:Archive"],
    ],
    [
      ["one:Sandbox", "two:Sandbox"],
      ["v1:Sandbox", "v2:Sandbox"],
    ],
    [["v1:not a class"], ["v1:Sandbox"]],
    [["v1:Archive"], ["v1:Archive", "v2:Sandbox"]],
    [["v999999999:Sandbox"], ["v1:Sandbox"]],
  ])("that is wrong has a right one beside it: %j", (given, repaired) => {
    const list = (texts: readonly string[]) =>
      texts.map((text) => {
        const [tag = "", name = ""] = text.split(":");
        return { tag, newSqliteClasses: [name] };
      });
    expect(repairedMigrations(list(given), ["Sandbox"])).toEqual(list(repaired));
    expect(checkMigrations(repairedMigrations(list(given), ["Sandbox"]), ["Sandbox"])).toEqual([]);
  });

  test("creates every class that is needed, in entries of their own or in one", () => {
    const needed: [string, string] = ["Sandbox", "Directory"];
    const shared = [{ tag: "v1", newSqliteClasses: ["Sandbox"] }];
    expect(checkMigrations(shared, needed)).toEqual(["no entry creates the class Directory"]);
    expect(repairedMigrations(shared, needed)).toEqual([
      ...shared,
      { tag: "v2", newSqliteClasses: ["Directory"] },
    ]);
    expect(checkMigrations([{ tag: "v1", newSqliteClasses: needed }], needed)).toEqual([]);
    expect(repairedMigrations([{ tag: "v1", newSqliteClasses: ["Archive"] }], needed)).toEqual([
      { tag: "v1", newSqliteClasses: ["Archive"] },
      { tag: "v2", newSqliteClasses: needed },
    ]);
  });

  test("must not be empty", () => {
    expect(checkMigrations([], ["Sandbox"])).toEqual(["no entry creates the class Sandbox"]);
  });
});

test("a rename says what is lost: the Durable Object of all chats, or those of each and their directory", () => {
  const shared = [{ tag: "v1", newSqliteClasses: ["Sandbox"] }];
  const chat = [...shared, { tag: "v2", newSqliteClasses: ["Directory"] }];
  expect(renamingLines("old", "new", shared)).toEqual([
    "Worker old → new: created with its classes and container, and deleted under the old name",
    "Kept: the bucket with the container's backups, from which the new container starts",
    "Lost: the old Worker's Durable Object (the ledger with accepted but unanswered events and its history), and container changes since the last backup",
  ]);
  expect(renamingLines("old", "new", chat)).toEqual([
    "Worker old → new: created with its classes and containers, and deleted under the old name",
    "Kept: the bucket with the containers' backups, from which the new containers start",
    "Lost: the old Worker's Durable Objects (each chat's ledger with accepted but unanswered events and its history, and the directory of chats and people), and container changes since the last backups",
  ]);
});
