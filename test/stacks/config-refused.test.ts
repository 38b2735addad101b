import { expect, test } from "vitest";
import { loadConfig } from "../../stacks/config.ts";
import { REFUSED } from "../support/refused-config.ts";
import { failure, problems, SERVERLESS, source } from "../support/stack-config.ts";

test.each(REFUSED)("a serverless stack's configuration refuses %s", (_what, change, problem) => {
  expect(problems({ ...SERVERLESS, ...change })).toEqual([problem]);
});

test("a list of migrations is taken with the key as the specification writes it, and a wrong one gets the right one", () => {
  const migrations = (list: object[]) => ({ ...SERVERLESS, "steward:migrations": JSON.stringify(list) });
  expect(problems(migrations([{ tag: "v1", new_sqlite_classes: ["Sandbox"] }]))).toEqual([]);
  const raised = failure(() =>
    loadConfig(source(migrations([{ tag: "v2", new_sqlite_classes: ["Sandbox"] }]))),
  );
  expect(raised?.message).toContain(
    `fix: pulumi config set -s dev steward:migrations '[{"tag":"v1","newSqliteClasses":["Sandbox"]},` +
      `{"tag":"v2","newSqliteClasses":["Sandbox"]}]'`,
  );
});
