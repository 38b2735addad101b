import { expect, test } from "vitest";
import {
  applicationName,
  BUCKET_NAME,
  defaultName,
  fittingName,
  LONGEST,
  WORKER_NAME,
} from "../../../infra/serverless/names.ts";
import { findConfigProblems } from "../../../stacks/config/find.ts";
import { SERVERLESS, source } from "../../support/stack-config.ts";

const bucketName = (project: string, stack: string, name = "steward") =>
  defaultName({ project, stack, name }, LONGEST.bucket);
const SIXTY = "a".repeat(60);

test.each([
  ["steward", "dev", "dev-steward"],
  ["assistant", "dev", "assistant-dev-steward"],
  ["steward", "My_Stack.1", "my-stack-1-steward"],
  ["steward", "-._", "steward"],
  ["My.Project", "prod", "my-project-prod-steward"],
])("the stack %s/%s has the bucket %s", (project, stack, name) => {
  expect(bucketName(project, stack)).toBe(name);
  expect(name).toMatch(BUCKET_NAME);
});

test("long names are cut to what R2 takes, and stay different", () => {
  const names = [`${SIXTY}1`, `${SIXTY}2`].map((stack) => bucketName("steward", stack));
  expect(new Set(names).size).toBe(2);
  for (const name of names) {
    expect(name).toMatch(BUCKET_NAME);
    expect(name).toMatch(/^a+-[0-9a-f]{6}-steward$/);
  }
});

test("a Worker's longest name leaves room for its application and its previews", () => {
  const longest = fittingName(SIXTY, LONGEST.worker);
  expect(longest).toMatch(WORKER_NAME);
  expect(applicationName(longest).length).toBeLessThanOrEqual(63);
  expect(`12345678-${longest}`.length).toBeLessThanOrEqual(63);
});

test.each([
  ["bucketName", "My_Bucket", "my-bucket"],
  ["bucketName", `${SIXTY}-bucket`, /^a+-[0-9a-f]{6}$/],
  ["workerName", "My_Stack.1", "my-stack-1"],
  ["workerName", SIXTY, /^a+-[0-9a-f]{6}$/],
])("%s %s is refused, and the fix has a value that is taken", (key, value, near) => {
  const [wrong, ...others] = findConfigProblems(source({ ...SERVERLESS, [`steward:${key}`]: value }));
  expect([wrong?.key, others]).toEqual([`steward:${key}`, []]);
  const given = wrong?.fix.split(" ").at(-1) ?? "";
  expect(given).toMatch(near);
  expect(findConfigProblems(source({ ...SERVERLESS, [`steward:${key}`]: given }))).toEqual([]);
});

test.each([
  ["bucketName", "ab"],
  ["workerName", "-"],
])("%s %s is refused without a value, since none is near", (key, value) => {
  const [wrong] = findConfigProblems(source({ ...SERVERLESS, [`steward:${key}`]: value }));
  expect(wrong?.fix).toBe(`pulumi config set -s dev steward:${key} <value>`);
});

test("a bucket cannot be both protected and emptied", () => {
  const both = { "steward:protectState": "true", "steward:bucketOnDestroy": "empty" };
  expect(findConfigProblems(source({ ...SERVERLESS, ...both }))).toMatchObject([
    { key: "steward:bucketOnDestroy" },
  ]);
});
