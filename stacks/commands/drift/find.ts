import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { nameOf } from "../deployed/stack.ts";

/** A resource that is no longer as it was deployed. */
export interface Drift {
  type: string;
  name: string;
  /** `gone`, or `changed` by somebody else. */
  what: "gone" | "changed";
  /** Paths of the properties that differ. Never their values, which may be secrets. */
  properties: string[];
}

/**
 * Returns the drift that one event of a refresh tells of. A resource drifts in the properties that the program sets:
 * a provider also answers with outputs of its own, which may differ after every read.
 *
 * `ResOutputsEvent`: https://www.pulumi.com/docs/reference/automation-api/
 */
export function driftOf({ resOutputsEvent: event }: EngineEvent): Drift[] {
  if (event === undefined) return [];
  const { op, type, urn, detailedDiff, old, new: now } = event.metadata;
  const name = nameOf(urn);
  if (op === "delete") return [{ type, name, what: "gone", properties: [] }];
  if (op !== "update") return [];
  const inputs: Properties = old?.inputs ?? {};
  const properties = new Set([
    ...Object.keys(detailedDiff ?? {}).filter((path) => Object.hasOwn(inputs, rootOf(path))),
    ...changedInputs(inputs, old?.outputs ?? {}, now?.outputs ?? {}),
  ]);
  if (properties.size === 0) return [];
  return [{ type, name, what: "changed", properties: [...properties].sort() }];
}

type Properties = Readonly<Record<string, unknown>>;

/** The inputs under whose names the outputs have changed: all that a resource without a detailed diff tells. */
function changedInputs(inputs: Properties, before: Properties, after: Properties): string[] {
  return Object.keys(inputs).filter(
    (key) => Object.hasOwn(before, key) && differs(inputs[key], before[key], after[key]),
  );
}

/** Compares two outputs where the input has values. What a provider adds to an object is its own. */
function differs(input: unknown, before: unknown, after: unknown): boolean {
  if (Array.isArray(input) && Array.isArray(before) && Array.isArray(after)) {
    return before.length !== after.length || input.some((item, at) => differs(item, before[at], after[at]));
  }
  if (isObject(input) && isObject(before) && isObject(after)) {
    return Object.keys(input).some((key) => differs(input[key], before[key], after[key]));
  }
  return JSON.stringify(before) !== JSON.stringify(after);
}

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The property that a path such as `tags.a`, `tags["a"]` or `list[0].b` begins with. */
function rootOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
