import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { stepsOf, type PlannedStep } from "../deployed/steps.ts";

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
