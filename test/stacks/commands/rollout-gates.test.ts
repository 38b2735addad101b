import { expect, test } from "vitest";
import { openGates } from "../../../stacks/commands/rollout/plan.ts";

const WORKER = { op: "replace", type: "cloudflare:index/worker:Worker", name: "worker" };
const BUCKET = { op: "delete", type: "steward:serverless:StateBucket", name: "state" };
const VERSION = {
  op: "replace",
  type: "cloudflare:index/workerVersion:WorkerVersion",
  name: "worker-current",
};
const NOBODY = { stack: "dev", accept: undefined };

test("a migration waits until its own tag is accepted", () => {
  const plan = { steps: [VERSION, WORKER], migrations: ["v2"] };
  const waits = ["The migration v2 will be applied. To accept it, add --accept-migration v2"];

  expect(openGates(plan, NOBODY)).toEqual(waits);
  expect(openGates(plan, { stack: "dev", accept: "v3" })).toEqual(waits);
  expect(openGates(plan, { stack: "dev", accept: "v2" })).toEqual([]);
});

test("no word lets a rollout remove what keeps state; a version keeps none", () => {
  const accepted = { stack: "dev", accept: "v2" };
  expect(openGates({ steps: [VERSION], migrations: [] }, accepted)).toEqual([]);
  expect(openGates({ steps: [WORKER, BUCKET], migrations: [] }, accepted)).toEqual([
    "worker (cloudflare:index/worker:Worker) would be replaced, along with its data. A rollout refuses to do this. To go ahead, make a backup, then run pulumi up -s dev",
    "state (steward:serverless:StateBucket) would be deleted, along with its data. A rollout refuses to do this. To go ahead, make a backup, then run pulumi up -s dev",
  ]);
});
