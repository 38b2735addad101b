import { describe, expect, test } from "vitest";
import { differs, inputsOf, outputsOf } from "../../../rehearsal/providers/cloudflare/shape.ts";
import { makeSecret, type Properties, type Value } from "../../../rehearsal/providers/values.ts";

const OP = { email: { email: "op@example.com" } };
const EVERYONE = { everyone: {} };
const POLICY: Properties = { accountId: "A", name: "operators", includes: [OP] };
const UNANSWERED = ["accountId", "text"];

/** Returns what a refresh stores, and whether an update would put it back. */
function refreshed(inputs: Properties, live: Properties) {
  const outputs = outputsOf(live, inputs, UNANSWERED);
  return {
    outputs,
    inputs: inputsOf(inputs, live, UNANSWERED),
    drifted: Object.keys(inputs).filter((key) => differs(inputs[key], (outputs as Properties)[key])),
  };
}

describe("what the account has is what a read returns:", () => {
  test.each<[string, Value, Value]>([
    ["a rule more", [OP, EVERYONE], [OP]],
    ["another rule in its place", [EVERYONE], [{}]],
    ["a rule before it", [EVERYONE, OP], [{}]],
    ["no rule", [], []],
  ])("%s", (_, includes, asInputs) => {
    const { inputs, outputs, drifted } = refreshed(POLICY, { name: "operators", includes });
    expect(outputs).toEqual({ accountId: "A", name: "operators", includes });
    expect(inputs).toEqual({ accountId: "A", name: "operators", includes: asInputs });
    expect(drifted).toEqual(["includes"]);
  });

  test("a value that is gone is not filled in from the program", () => {
    const { inputs, outputs, drifted } = refreshed(POLICY, { includes: [OP] });
    expect([inputs, outputs]).toEqual([
      { accountId: "A", includes: [OP] },
      { accountId: "A", includes: [OP] },
    ]);
    expect(drifted).toEqual(["name"]);
  });
});

describe("no difference is", () => {
  const bindings = [
    { name: "STATE", type: "r2_bucket" },
    { name: "KEY", type: "secret_text", text: makeSecret("k") },
  ];

  test("what the API adds, its order of names, and what it never returns", () => {
    const live = {
      bindings: [
        { name: "KEY", type: "secret_text" },
        { name: "STATE", type: "r2_bucket", jurisdiction: "default" },
      ],
    };
    const { outputs, drifted } = refreshed({ bindings }, live);
    expect(outputs).toEqual({
      bindings: [
        { name: "KEY", type: "secret_text", text: makeSecret("k") },
        { name: "STATE", type: "r2_bucket", jurisdiction: "default" },
      ],
    });
    expect(drifted).toEqual([]);
  });

  test("a secret that is returned, and it stays one; another value does too", () => {
    const inputs = { email: makeSecret("op@example.com") };
    expect(refreshed(inputs, { email: "op@example.com" })).toMatchObject({ outputs: inputs, drifted: [] });
    expect(refreshed(inputs, { email: "else@example.com" })).toMatchObject({
      outputs: { email: makeSecret("else@example.com") },
      drifted: ["email"],
    });
  });
});
