import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../../runtime/contract/config/json-schema.ts";

/** Pages' scripts have a browser's types, which this program has none of. */
const file = new URL("../../../runtime/edge/client/config-schema.ts", import.meta.url).href;
const { placeAt, offersAt, helpAt } = await import(file);
const schema = configJsonSchema();

/** The place of the sign `|` in a text. */
function place(text: string) {
  return placeAt(text.replace("|", ""), text.indexOf("|"));
}

const labels = (text: string): string[] =>
  offersAt(schema, place(text)).map(({ label }: { label: string }) => label);

describe("the place in a config's text", () => {
  it.each([
    ["{|", [], true, ""],
    ['{"agent": {"maxS|', ["agent"], true, "maxS"],
    ['{"agent": {"maxSteps": |', ["agent", "maxSteps"], false, ""],
    [
      '{"a": 1, "channels": {"slack": {"dmPolicy": "op|en"}}}',
      ["channels", "slack", "dmPolicy"],
      false,
      "open",
    ],
    ['{"agent": {"operators": ["a", "b|"]}}', ["agent", "operators", "1"], false, "b"],
    ['{"agent": {}, |}', [], true, ""],
  ])("is found in %s", (text, path, isKey, word) => {
    expect(place(text)).toMatchObject({ path, isKey, word });
  });
});

describe("completion", () => {
  it("offers the keys of the object that it does not have yet", () => {
    expect(labels("{|")).toEqual(expect.arrayContaining(["agent", "channels", "models"]));
    expect(labels('{"agent": {}, |')).not.toContain("agent");
    expect(labels('{"agent": {"|')).toContain("maxSteps");
    expect(labels('{"nonsense": {"|')).toEqual([]);
  });

  it("offers the values that the schema lists, and its default", () => {
    expect(labels('{"channels": {"slack": {"dmPolicy": |')).toEqual(
      expect.arrayContaining(["open", "disabled"]),
    );
    expect(labels('{"channels": {"slack": {"enabled": |')).toEqual(expect.arrayContaining(["true", "false"]));
    expect(labels('{"agent": {"maxSteps": |')).toEqual(["16"]);
  });
});

it("help says what a key means, and its default", () => {
  const text = '{"agent": {"maxSteps": 7}}';
  expect(helpAt(schema, text, text.indexOf("maxSteps"))).toMatchObject({
    path: "agent.maxSteps",
    help: expect.stringMatching(/^Maximum number of requests to the model .* Default: 16\.$/),
  });
  expect(helpAt(schema, text, 0)).toBeUndefined();
  expect(helpAt(schema, '{"nonsense": 1}', 3)).toBeUndefined();
});
