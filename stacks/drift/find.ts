import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { nameOf } from "../deployed/steps.ts";

/** A resource that is no longer as it was deployed. */
export interface Drift {
  type: string;
  name: string;
  /** `gone`, or `changed` by somebody else. */
  what: "gone" | "changed";
  /** Paths of the properties that differ. Never their values, which may be secrets. */
  properties: string[];
}

/** Asks every provider what is there now. The stack's state stays as it is. */
export async function findDrift(stack: Stack, onOutput: (text: string) => void): Promise<Drift[]> {
  const found: Drift[] = [];
  const onEvent = (event: EngineEvent): void => void found.push(...driftOf(event));
  await stack.previewRefresh({ color: "never", onOutput, onEvent });
  return found;
}

/** What was read of one resource: https://www.pulumi.com/docs/reference/automation-api/ has `ResOutputsEvent`. */
function driftOf({ resOutputsEvent: event }: EngineEvent): Drift[] {
  if (event === undefined) return [];
  const { op, type, urn, detailedDiff } = event.metadata;
  if (op !== "update" && op !== "delete") return [];
  const name = nameOf(urn);
  const what = op === "delete" ? "gone" : "changed";
  return [{ type, name, what, properties: Object.keys(detailedDiff ?? {}).sort() }];
}
