import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";

/** One thing that an update would do. */
export interface PlannedStep {
  op: string;
  type: string;
  name: string;
}

/** Previews the stack as if these were its settings, and lists what an update would do. The stack's own stay as they are. */
export async function previewSettings(
  stack: Stack,
  settings: string,
  onOutput: (text: string) => void,
): Promise<PlannedStep[]> {
  const steps: PlannedStep[] = [];
  const onEvent = (event: EngineEvent): void => void steps.push(...stepsOf(event));
  const dir = await mkdtemp(path.join(tmpdir(), "steward-migrate-"));
  try {
    const configFile = path.join(dir, "settings.yaml");
    await writeFile(configFile, settings, { mode: 0o600 });
    await stack.preview({ configFile, color: "never", onOutput, onEvent });
    return steps;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** A replacement is told with the steps that it is made of, which are left out. */
function stepsOf({ resourcePreEvent: event }: EngineEvent): PlannedStep[] {
  if (event === undefined) return [];
  const { op, type, urn } = event.metadata;
  const isWhole = ["create", "update", "replace", "delete"].includes(op);
  return isWhole ? [{ op, type, name: urn.split("::").slice(3).join("::") }] : [];
}
