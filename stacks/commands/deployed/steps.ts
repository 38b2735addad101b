import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";

/** One thing that an update would do. */
export interface PlannedStep {
  op: string;
  type: string;
  name: string;
}

/** What an event of a preview says of that. A replacement is told with the steps that it is made of, which are left out. */
export function stepsOf({ resourcePreEvent: event }: EngineEvent): PlannedStep[] {
  if (event === undefined) return [];
  const { op, type, urn } = event.metadata;
  const isWhole = ["create", "update", "replace", "delete"].includes(op);
  return isWhole ? [{ op, type, name: nameOf(urn) }] : [];
}

/** A resource's own name: the last part of its URN, which may hold separators itself. */
export function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::");
}
