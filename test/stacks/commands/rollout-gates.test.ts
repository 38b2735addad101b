import { expect, test } from "vitest";
import { openGates } from "../../../stacks/commands/rollout/options.ts";

const WORKER = { op: "replace", type: "cloudflare:index/worker:Worker", name: "worker" };
const BUCKET = { op: "delete", type: "steward:serverless:StateBucket", name: "state" };
const VERSION = {
  op: "replace",
  type: "cloudflare:index/workerVersion:WorkerVersion",
  name: "worker-current",
};
const NOBODY = { stack: "dev", accept: undefined, canary: [] };

test("a migration waits until its own tag is accepted", () => {
  const plan = { steps: [VERSION, WORKER], migrations: ["v2"] };
  const waits = ["The migration v2 is going to be applied. To accept it: --accept-migration v2"];

  expect(openGates(plan, NOBODY)).toEqual(waits);
  expect(openGates(plan, { stack: "dev", accept: "v3", canary: [] })).toEqual(waits);
  expect(openGates(plan, { stack: "dev", accept: "v2", canary: [] })).toEqual([]);
});

test("a migration cannot be deployed by shares", () => {
  const plan = { steps: [], migrations: ["v2"] };
  expect(openGates(plan, { stack: "dev", accept: "v2", canary: [10] })).toEqual([
    "Migration v2 cannot be deployed gradually. Apply it at once: omit --canary",
  ]);
});

test("what was deployed before the component is not put below it by shares", () => {
  const created = { op: "create", type: "steward:index:ServerlessGateway", name: "steward" };
  const shares = { ...NOBODY, canary: [10] };
  expect(openGates({ steps: [created, VERSION], migrations: [] }, shares)).toEqual([
    "The update that creates the gateway's component cannot be gradual. Update at once: omit --canary",
  ]);
  const first = { ...WORKER, op: "create" };
  expect(openGates({ steps: [created, first], migrations: [] }, shares)).toEqual([]);
  expect(openGates({ steps: [created, VERSION], migrations: [] }, NOBODY)).toEqual([]);
});

test("no word lets a rollout remove what keeps state; a version keeps none", () => {
  const accepted = { stack: "dev", accept: "v2", canary: [] };
  expect(openGates({ steps: [VERSION], migrations: [] }, accepted)).toEqual([]);
  expect(openGates({ steps: [WORKER, BUCKET], migrations: [] }, accepted)).toEqual([
    "worker (cloudflare:index/worker:Worker) is going to be replaced, with what it keeps. No rollout does that: take a backup, then pulumi up -s dev",
    "state (steward:serverless:StateBucket) is going to be deleted, with what it keeps. No rollout does that: take a backup, then pulumi up -s dev",
  ]);
});
