import { describe, expect, test } from "vitest";
import {
  inputForm,
  readResult,
  serversInput,
  toolName,
} from "../../../../runtime/gateway/agent/mcp/tool-form.ts";

describe("a tool's name", () => {
  test("is the server's and its own", () => {
    expect(toolName("notes", "echo").name).toBe("notes_echo");
  });

  test("stays apart where two agree in what a provider takes", () => {
    const long = "a".repeat(80);
    const names = [`${long}1`, `${long}2`, "a.b", "a b", "a_b"].map((tool) => toolName("notes", tool).name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(toolName("notes", `${long}1`).name).toBe(names[0]);
  });

  test("has an alias for the case that another tool has its name", () => {
    expect(toolName("a_b", "c").name).toBe(toolName("a", "b_c").name);
    expect(toolName("a_b", "c").alias).not.toBe(toolName("a", "b_c").alias);
  });
});

describe("a tool's input", () => {
  const TEXT = { type: "string" };

  test("is offered as it is where a provider takes it", () => {
    const schema = {
      type: "object",
      properties: { "a.b-c": { anyOf: [TEXT, { type: "null" }] } },
      required: ["a.b-c"],
      additionalProperties: false,
    };
    expect(inputForm(schema)).toEqual({ schema, renamed: new Map() });
  });

  test("loses what is composed at its top, and keeps what it says", () => {
    const form = inputForm({
      description: "Finds one.",
      properties: { limit: { type: "number" } },
      anyOf: [
        { properties: { id: TEXT }, required: ["id"] },
        { properties: { name: TEXT, city: TEXT }, required: ["name", "city"] },
        { $ref: "#/$defs/all" },
        "nonsense",
      ],
      allOf: [{ properties: { token: TEXT }, required: ["token"] }],
      not: { required: ["x"] },
      $defs: { all: { properties: { all: { type: "boolean" } }, required: ["all"] } },
    });
    expect(form).toMatchObject({
      schema: {
        type: "object",
        description: "Finds one. Needs one of these: id; or name and city; or all.",
        properties: { limit: {}, id: {}, name: {}, city: {}, all: {}, token: {} },
        required: ["token"],
      },
    });
    for (const key of ["anyOf", "allOf", "not"]) expect(form).not.toHaveProperty(["schema", key]);
  });

  test("gets names that a provider takes, and comes back by the server's own", () => {
    const form = inputForm({ properties: { $top: TEXT, _top: TEXT, größe: TEXT }, required: ["$top"] });
    if ("problem" in form) throw new Error(form.problem);
    expect(form.schema).toMatchObject({
      properties: { _top: TEXT, _top_: TEXT, gr__e: TEXT },
      required: ["_top_"],
    });
    expect(serversInput({ _top: 1, _top_: 2, gr__e: 3, other: 4 }, form.renamed)).toEqual({
      _top: 1,
      $top: 2,
      größe: 3,
      other: 4,
    });
    expect(serversInput("no object", form.renamed)).toEqual({});
  });

  test.each([
    ["a name within it that cannot be used", { properties: { a: { properties: { $b: TEXT } } } }],
    ["an input that is no object", { type: "string" }],
    ["a schema that is too large", { description: "a".repeat(70_000) }],
    ["a schema without an end", nested(100)],
  ])("is refused for %s", (_, schema) => {
    expect(inputForm(schema)).toEqual({ problem: expect.any(String) });
  });

  function nested(depth: number): Record<string, unknown> {
    return { properties: depth === 0 ? {} : { a: nested(depth - 1) } };
  }
});

describe("all of a tool's result reaches the model", () => {
  const data = Buffer.alloc(3_000).toString("base64");

  test.each<[string, object, string]>([
    [
      "texts",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    [
      "an embedded text",
      { content: [{ type: "resource", resource: { uri: "file:///a.md", text: "# A" } }] },
      "file:///a.md:\n# A",
    ],
    [
      "an embedded file",
      {
        content: [
          { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: data } },
        ],
      },
      "file:///a.pdf: (file 1, application/pdf, 3 kB)",
    ],
    [
      "a link",
      {
        content: [
          { type: "resource_link", uri: "https://a.example/b", name: "b", description: "The report." },
        ],
      },
      "b, https://a.example/b, The report.",
    ],
    [
      "a link whose title is no text",
      {
        content: [{ type: "resource_link", uri: "https://a.example/b", name: "b", title: { toString: 1 } }],
      },
      "https://a.example/b",
    ],
    ["a picture", { content: [{ type: "image", mimeType: "image/png", data }] }, "(file 1, image/png, 3 kB)"],
    ["a sound", { content: [{ type: "audio", mimeType: "audio/wav", data }] }, "(file 1, audio/wav, 3 kB)"],
    ["a kind that nobody knows yet", { content: [{ type: "map", at: [1, 2] }] }, '{"type":"map","at":[1,2]}'],
    ["structured content alone", { content: [], structuredContent: { total: 3 } }, '{"total":3}'],
    [
      "structured content beside a text",
      { content: [{ type: "text", text: "Found 3." }], structuredContent: { total: 3 } },
      'Found 3.\n{"total":3}',
    ],
    [
      "structured content with nothing but the text",
      { content: [{ type: "text", text: "size: 3" }], structuredContent: { content: "size: 3" } },
      "size: 3",
    ],
    [
      "structured content that the text repeats",
      { content: [{ type: "text", text: '{ "total": 3 }' }], structuredContent: { total: 3 } },
      '{ "total": 3 }',
    ],
    ["a result of former versions", { toolResult: 3 }, '{"toolResult":3}'],
  ])("%s", (_, result, text) => {
    expect(readResult(result).text).toBe(text);
  });
});
