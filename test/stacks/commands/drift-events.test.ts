import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { describe, expect, test } from "vitest";
import { driftOf } from "../../../stacks/commands/drift/find.ts";

const TYPE = "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication";
const INPUTS = {
  name: "steward",
  policies: [{ id: "p1", precedence: 1 }],
  destinations: [{ type: "public", uri: "steward.acme.dev/_admin*" }],
};
const OUTPUTS = { ...INPUTS, id: "app-1", aud: "a".repeat(64) };

/** Returns the event of one resource that the engine has read again, in the form of its Automation API. */
function read(change: {
  op?: string;
  type?: string;
  outputs?: object;
  inputs?: object;
  detailedDiff?: Record<string, object>;
}): EngineEvent {
  const { op = "update", type = TYPE, outputs = OUTPUTS, inputs = INPUTS, detailedDiff } = change;
  const state = { type, urn: "urn:pulumi:dev::steward::x::app", custom: true, id: "app-1", parent: "" };
  const metadata = {
    op,
    urn: `urn:pulumi:dev::steward::steward:serverless:AccessGate$${type}::access-private`,
    type,
    provider: "",
    old: { ...state, inputs: INPUTS, outputs: OUTPUTS },
    new: { ...state, inputs, outputs },
    ...(detailedDiff !== undefined && { detailedDiff }),
  };
  return { sequence: 1, timestamp: 1, resOutputsEvent: { metadata } } as unknown as EngineEvent;
}

describe("a resource whose provider answers more than was asked has not drifted:", () => {
  test.each([
    ["outputs of its own", { outputs: { ...OUTPUTS, createdAt: "2026-11-22T00:00:00Z", isDefault: null } }],
    ["another output of its own", { outputs: { ...OUTPUTS, aud: "b".repeat(64) } }],
    [
      "more in an object of a list",
      { outputs: { ...OUTPUTS, policies: [{ id: "p1", precedence: 1, decision: "allow", include: [{}] }] } },
    ],
    ["a detailed diff of an output", { detailedDiff: { "saasApp.clientId": { kind: "update" } } }],
    ["an empty detailed diff", { detailedDiff: {} }],
    ["nothing", { op: "same" }],
  ])("%s", (_, change) => {
    expect(driftOf(read(change))).toEqual([]);
  });
});

describe("a resource has drifted in what the program sets:", () => {
  test.each([
    [
      "by the detailed diff",
      { detailedDiff: { "policies[0].precedence": { kind: "update" } } },
      "policies[0].precedence",
    ],
    ["by a value", { outputs: { ...OUTPUTS, name: "somebody else's" } }, "name"],
    [
      "by a value in a list",
      { outputs: { ...OUTPUTS, policies: [{ id: "p2", precedence: 1 }] } },
      "policies[0].id",
    ],
    ["by a shorter list", { outputs: { ...OUTPUTS, destinations: [] } }, "destinations[0]"],
    [
      "by the innermost of two paths",
      {
        outputs: { ...OUTPUTS, policies: [{ id: "p1", precedence: 2 }] },
        detailedDiff: { policies: { kind: "update" }, "policies[0]": { kind: "update" } },
      },
      "policies[0].precedence",
    ],
    [
      "by a longer list",
      { outputs: { ...OUTPUTS, policies: [...INPUTS.policies, { id: "p9", precedence: 2 }] } },
      "policies[1]",
    ],
    [
      "by a value that is gone",
      { outputs: { id: "app-1", policies: INPUTS.policies, destinations: INPUTS.destinations } },
      "name",
    ],
  ])("%s", (_, change, property) => {
    expect(driftOf(read(change))).toEqual([
      { type: TYPE, name: "access-private", what: "changed", properties: [property] },
    ]);
  });
});

test("a resource of this package's own has drifted if its provider says so", () => {
  const type = "steward:serverless:ContainerApplication";
  expect(driftOf(read({ type }))).toEqual([
    { type, name: "access-private", what: "changed", properties: [] },
  ]);
});

test("a resource that is gone has drifted as a whole", () => {
  expect(driftOf(read({ op: "delete" }))).toEqual([
    { type: TYPE, name: "access-private", what: "gone", properties: [] },
  ]);
});
