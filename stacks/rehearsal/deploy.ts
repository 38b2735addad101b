import type { OpMap, Stack } from "@pulumi/pulumi/automation/index.js";

/** How a deployment went. Times are in milliseconds. */
export interface Deployment {
  url: string;
  /** The Access application's audience; empty where there is none. */
  audience: string;
  /** Resources of the stack by type. */
  resources: Record<string, number>;
  /** Resources by what the update did to them: `create`, `same`, … */
  changes: OpMap;
  previewMs: number;
  upMs: number;
}

/** Previews and updates the stack; the engine's own output goes to `onOutput`, and `signal` ends it. */
export async function deploy(
  stack: Stack,
  signal: AbortSignal,
  onOutput: (text: string) => void,
): Promise<Deployment> {
  const previewed = await timed(() => stack.preview({ color: "never", signal }));
  const updated = await timed(() => stack.up({ color: "never", suppressOutputs: true, onOutput, signal }));
  const { outputs, summary } = updated.result;
  return {
    url: String(outputs["url"]?.value),
    audience: String(outputs["audience"]?.value ?? ""),
    resources: await countResources(stack),
    changes: summary.resourceChanges ?? {},
    previewMs: previewed.ms,
    upMs: updated.ms,
  };
}

/** The stack's resources by type, without the stack itself and the providers. */
async function countResources(stack: Stack): Promise<Record<string, number>> {
  const { deployment } = await stack.exportStack();
  const { resources = [] } = deployment as { resources?: { type: string }[] };
  const counts: Record<string, number> = {};
  for (const { type } of resources) {
    if (!type.startsWith("pulumi:pulumi:") && !type.startsWith("pulumi:providers:")) {
      counts[type] = (counts[type] ?? 0) + 1;
    }
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: Math.round(performance.now() - started) };
}
