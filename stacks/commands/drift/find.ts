import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { type CommandOptions, diagnosticText, resourceName, openDeployed } from "../deployed/stack.ts";

/** A resource that is no longer as it was deployed. */
export interface Drift {
  type: string;
  name: string;
  /** `gone`, or `changed` by somebody else. */
  what: "gone" | "changed";
  /** Paths of the properties that differ, such as `versions[0].percentage`. Never their values, which may be secrets. */
  properties: string[];
}

/** Differences between a deployed stack and its record. */
export interface DriftResult {
  /** Empty without drift. */
  drift: Drift[];
  /** Messages of providers, such as that one could not look. */
  remarks: string[];
}

/**
 * Asks every provider what is there now. Changes nothing, not even the stack's state. Secrets cannot be read back: of
 * Telegram's webhook secret and the Worker's secrets no drift is found.
 *
 * @throws StewardError `stack_not_deployed`; BuildFailure if the CLI, the backend or the stack is missing
 */
export async function drift(stackName: string, options: CommandOptions = {}): Promise<DriftResult> {
  const { stack, state } = await openDeployed(stackName, { ...options, runsProgram: true });
  // An empty state has no differences, so a stack that was never deployed would seem free of drift.
  if ((await state()).resources.length === 0) throw new StewardError("stack_not_deployed");
  const found: Drift[] = [];
  const remarks = new Set<string>();
  const onEvent = (event: EngineEvent): void => {
    found.push(...driftOf(event));
    const text = diagnosticText(event)?.trim();
    if (text) remarks.add(text);
  };
  await stack.previewRefresh({ color: "never", onEvent });
  return { drift: found, remarks: [...remarks] };
}

/** Types of this package's own resources; the second one until the first update by a version from 0.1.0 on. */
const OWN = ["steward:", "pulumi-nodejs:dynamic/"];

/**
 * Returns the drift that one event of a refresh reports. A resource drifts in the properties that the program sets: a
 * bridged provider also answers with outputs that may differ after every read. A provider of this package compares only
 * what matters, so each difference that it reports counts.
 *
 * `ResOutputsEvent`: https://www.pulumi.com/docs/reference/automation-api/
 */
export function driftOf({ resOutputsEvent: event }: EngineEvent): Drift[] {
  if (event === undefined) return [];
  const { op, type, urn, detailedDiff, old, new: now } = event.metadata;
  const name = resourceName(urn);
  if (op === "delete") return [{ type, name, what: "gone", properties: [] }];
  if (op !== "update") return [];
  const inputs: Properties = old?.inputs ?? {};
  const properties = new Set([
    ...Object.keys(detailedDiff ?? {}).filter((path) => Object.hasOwn(inputs, rootOf(path))),
    ...changedInputs(inputs, old?.outputs ?? {}, now?.outputs ?? {}),
  ]);
  if (properties.size === 0 && !OWN.some((start) => type.startsWith(start))) return [];
  return [{ type, name, what: "changed", properties: innermost([...properties].sort()) }];
}

type Properties = Readonly<Record<string, unknown>>;

/** Returns the paths of the inputs whose outputs of the same name have changed. */
function changedInputs(inputs: Properties, before: Properties, after: Properties): string[] {
  const shared = Object.keys(inputs).filter((key) => Object.hasOwn(before, key));
  return shared.flatMap((key) => changedPaths(key, inputs[key], before[key], after[key]));
}

/** Returns the paths at which two outputs differ. Ignores keys that a provider adds to an object of the input. */
function changedPaths(path: string, input: unknown, before: unknown, after: unknown): string[] {
  if (Array.isArray(input) && Array.isArray(before) && Array.isArray(after)) {
    const places = Array.from({ length: Math.max(before.length, after.length) }, (_, at) => at);
    return places.flatMap((at) => {
      const place = `${path}[${at}]`;
      const isInBoth = at < before.length && at < after.length;
      return isInBoth ? changedPaths(place, input[at], before[at], after[at]) : [place];
    });
  }
  if (isObject(input) && isObject(before) && isObject(after)) {
    return Object.keys(input).flatMap((key) =>
      changedPaths(`${path}.${key}`, input[key], before[key], after[key]),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
}

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Leaves out paths that another path continues. */
function innermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && /^[.[]/.test(after(path, other))));
}

function after(prefix: string, path: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : "";
}

/** The property that a path such as `tags.a`, `tags["a"]` or `list[0].b` begins with. */
function rootOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
