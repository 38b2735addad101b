import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { type CommandOptions, diagnosticText, resourceName, openDeployed } from "../deployed/stack.ts";

/** A deployed resource that was changed or deleted outside of Pulumi. */
export interface Drift {
  type: string;
  name: string;
  what: "gone" | "changed";
  /**
   * Paths of the changed properties, such as `versions[0].percentage`. Values are omitted, because they may be secrets.
   */
  properties: string[];
}

export interface DriftResult {
  drift: Drift[];
  /** Messages from providers, such as failed reads. */
  remarks: string[];
}

/**
 * Compares every resource with what its provider reports. Changes nothing, not even the state. Cannot detect drift of
 * Telegram's webhook secret and the Worker's secrets, which cannot be read back.
 *
 * @throws StewardError `stack_not_deployed`; BuildFailure if the CLI, the backend or the stack is missing
 */
export async function drift(stackName: string, options: CommandOptions = {}): Promise<DriftResult> {
  const { stack, state } = await openDeployed(stackName, { ...options, runsProgram: true });
  // An empty state has no differences, so a stack that was never deployed would appear free of drift.
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

/** Type prefixes of this package's resources. States written before 0.1.0 contain the second prefix. */
const OWN = ["steward:", "pulumi-nodejs:dynamic/"];

/**
 * Returns the drift in one event of a refresh (`ResOutputsEvent`:
 * https://www.pulumi.com/docs/reference/automation-api/). For bridged providers, only properties that the program
 * sets count, because other outputs differ on every read. For this package's providers, all differences count.
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

function changedInputs(inputs: Properties, before: Properties, after: Properties): string[] {
  const shared = Object.keys(inputs).filter((key) => Object.hasOwn(before, key));
  return shared.flatMap((key) => changedPaths(key, inputs[key], before[key], after[key]));
}

/**
 * Returns the paths at which the outputs `before` and `after` differ. Ignores object keys that are missing from
 * `input`, because the provider adds them.
 */
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

/** Drops each path that is a prefix of another path. */
function innermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && /^[.[]/.test(after(path, other))));
}

function after(prefix: string, path: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : "";
}

/** Returns a path's top-level property, for example `tags` for `tags.a` and `tags["a"]`, or `list` for `list[0].b`. */
function rootOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
