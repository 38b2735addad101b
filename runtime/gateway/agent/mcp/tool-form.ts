import { isRecord, parseJson } from "../../../shared/json.ts";
import type { ToolFile, ToolOutcome } from "../tools/tool.ts";

/** Longest tool name that providers accept, in characters. */
const LONGEST_NAME = 64;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
/**
 * Property names that providers accept: https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
 */
const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;
const LARGEST_SCHEMA = 64 * 1024;
const DEEPEST_SCHEMA = 40;
/**
 * Keywords that providers refuse at the top level of a tool's schema. Omitting them is safe, because the server
 * validates its input.
 */
const COMPOSED = ["allOf", "anyOf", "oneOf"] as const;
const DROPPED = [...COMPOSED, "not", "if", "then", "else"] as const;
const LONGEST_UNKNOWN = 2_000;
/** Maximum number of files in one tool result. */
const MAX_FILES = 8;
/** Maximum base64 characters of a file. */
const LONGEST_FILE = 14_000_000;

type Schema = Record<string, unknown>;

/**
 * Returns the name by which the model calls a server's tool. A name that providers would reject gets a unique digest
 * as its suffix. Use `alias` if another tool already has `name`.
 */
export function toolName(server: string, tool: string): { name: string; alias: string } {
  const given = `${server}_${tool}`;
  const plain = given.replace(NOT_IN_NAMES, "_");
  const { hash } = process.getBuiltinModule("node:crypto");
  const digest = hash("sha256", `${server}\0${tool}`).slice(0, 8);
  const alias = `${plain.slice(0, LONGEST_NAME - digest.length - 1)}_${digest}`;
  return { name: plain === given && plain.length <= LONGEST_NAME ? plain : alias, alias };
}

/** Input schema for the model. `renamed` maps changed property names to the server's names. */
export interface InputForm {
  schema: Schema;
  renamed: ReadonlyMap<string, string>;
}

/** Returns a tool's input schema in a form that providers accept, or the reason why none exists. */
export function inputForm(given: Schema): InputForm | { problem: string } {
  if (JSON.stringify(given).length > LARGEST_SCHEMA) return { problem: "its schema is too large" };
  const { type = "object" } = given;
  if (![type].flat().includes("object")) return { problem: "its input is not an object" };
  const { properties, required, hint } = merged(given);
  const renamed = new Map<string, string>();
  const names = new Map<string, string>();
  for (const name of properties.keys()) {
    let own = PROPERTY.test(name) ? name : name.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 60) || "_";
    while (own !== name && (properties.has(own) || renamed.has(own))) own += "_";
    names.set(name, own);
    if (own !== name) renamed.set(own, name);
  }
  const named = (name: string): string => names.get(name) ?? name;
  const shown = Object.fromEntries([...properties].map(([name, one]) => [named(name), one]));
  const rest = Object.fromEntries(
    Object.entries(given).filter(([key]) => !DROPPED.some((one) => one === key)),
  );
  const schema: Schema = { ...rest, type: "object", properties: shown };
  if (required.length > 0) schema["required"] = required.map(named);
  else delete schema["required"];
  if (hint !== "") schema["description"] = [given["description"], hint].filter(Boolean).join(" ");
  return hasOnlyNames({ ...schema, properties: Object.values(shown) }, DEEPEST_SCHEMA)
    ? { schema, renamed }
    : { problem: "a name in its schema cannot be used" };
}

/**
 * Merges a schema's top level with its allOf, anyOf and oneOf parts. Properties required by only some alternatives
 * become optional.
 */
function merged(given: Schema): { properties: Map<string, unknown>; required: string[]; hint: string } {
  const properties = new Map(propertiesOf(given));
  const required = new Set(requiredOf(given));
  const choices: string[] = [];
  for (const key of COMPOSED) {
    for (const part of listOf(given[key])) {
      const one = resolved(given, part);
      for (const [name, own] of propertiesOf(one)) if (!properties.has(name)) properties.set(name, own);
      if (key === "allOf") for (const name of requiredOf(one)) required.add(name);
      else if (requiredOf(one).length > 0) choices.push(requiredOf(one).join(" and "));
    }
  }
  const hint = choices.length === 0 ? "" : `Needs one of these: ${choices.join("; or ")}.`;
  return { properties, required: [...required], hint };
}

function resolved(root: Schema, part: unknown): Schema {
  const place = isRecord(part) && typeof part["$ref"] === "string" ? part["$ref"] : undefined;
  if (place === undefined) return isRecord(part) ? part : {};
  const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]{1,200})$/.exec(place) ?? [];
  const defined = root[group];
  const found = isRecord(defined) && Object.hasOwn(defined, name) ? defined[name] : undefined;
  return isRecord(found) ? found : {};
}

function propertiesOf({ properties }: Schema): [name: string, schema: unknown][] {
  return isRecord(properties) ? Object.entries(properties) : [];
}

function requiredOf({ required }: Schema): string[] {
  return listOf(required).filter((name) => typeof name === "string");
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function hasOnlyNames(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  const inner = Array.isArray(value) ? value : Object.values(value);
  const own = isRecord(value) && isRecord(value["properties"]) ? Object.keys(value["properties"]) : [];
  return own.every((name) => PROPERTY.test(name)) && inner.every((one) => hasOnlyNames(one, depth - 1));
}

export function serversInput(input: unknown, renamed: InputForm["renamed"]): Schema {
  if (!isRecord(input)) return {};
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

/**
 * Converts a result to text, and collects the files that the text refers to:
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
export function readResult(result: object): ToolOutcome {
  const { content, structuredContent } = result as { content?: unknown; structuredContent?: unknown };
  if (!Array.isArray(content)) return { text: JSON.stringify(result), files: [] };
  const files: ToolFile[] = [];
  const parts = (content as unknown[]).filter(isRecord).map((part) => partText(part, files));
  if (structuredContent === undefined || structuredContent === null) return { text: parts.join("\n"), files };
  // Include structured content only once: servers also send it as text.
  const structured = JSON.stringify(structuredContent);
  const [only, ...others] = isRecord(structuredContent) ? Object.values(structuredContent) : [];
  const isTold = parts.some(
    (part) =>
      (others.length === 0 && part === only) ||
      (part.length >= structured.length && JSON.stringify(parseJson(part)) === structured),
  );
  return { text: [...parts, ...(isTold ? [] : [structured])].join("\n"), files };
}

function partText(part: Schema, files: ToolFile[]): string {
  switch (part["type"]) {
    case "text":
      return String(part["text"]);
    case "image":
    case "audio":
      return fileText(part["type"], part["mimeType"], part["data"], files);
    case "resource": {
      const { uri, mimeType, text, blob } = isRecord(part["resource"]) ? part["resource"] : {};
      if (typeof text === "string") return `${uri}:\n${text}`;
      const kind = /^(image|audio)\//.exec(String(mimeType))?.[1];
      return `${uri}: ${fileText(kind === "image" || kind === "audio" ? kind : "file", mimeType, blob, files)}`;
    }
    case "resource_link": {
      const { uri, name, title = name, description, mimeType } = part;
      const told = [title, uri, mimeType, description].filter((one) => typeof one === "string");
      return told.filter((one) => one !== "").join(", ");
    }
    default:
      return JSON.stringify(part).slice(0, LONGEST_UNKNOWN);
  }
}

/** Returns a description of a base64 file, and appends the file to `files` unless a limit is exceeded. */
function fileText(kind: ToolFile["kind"], mimeType: unknown, base64: unknown, files: ToolFile[]): string {
  const mediaType = typeof mimeType === "string" ? mimeType : "";
  const content = typeof base64 === "string" ? base64 : "";
  const size = `${Math.ceil((content.length * 3) / 4 / 1_000)} kB`;
  const isTaken = files.length < MAX_FILES && content !== "" && content.length <= LONGEST_FILE;
  if (isTaken) files.push({ kind, mediaType, data: Buffer.from(content, "base64") });
  const name = isTaken ? `file ${files.length}` : kind;
  return `(${[name, mediaType, size, isTaken ? "" : "left out"].filter(Boolean).join(", ")})`;
}
