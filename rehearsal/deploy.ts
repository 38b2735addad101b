import { CommandError, type OpMap, type Stack } from "@pulumi/pulumi/automation/index.js";
import { explain } from "../infra/shell/explain.ts";
import { commandsFor } from "../infra/shell/package.ts";
import type { RunStep } from "./progress.ts";
import { STACK } from "./stack.ts";

const MAX_ERRORS = 5;

/** Times are in milliseconds. */
export interface RehearsedDeployment {
  url: string;
  /** Audience of the Access application; empty without an application. */
  audience: string;
  /** Number of resources by type. */
  resources: Record<string, number>;
  /** Number of resources by operation: `create`, `same`, … */
  changes: OpMap;
  previewMs: number;
  /** Duration of the update; `undefined` if nothing had changed. */
  upMs: number | undefined;
}

/**
 * Previews the stack, and updates it if the preview shows changes.
 *
 * @param step wraps the preview and the update, to report on them. Default: runs them without a report
 */
export async function deploy(
  stack: Stack,
  signal: AbortSignal,
  onOutput: (text: string) => void,
  step: RunStep = (_, work) => work(),
): Promise<RehearsedDeployment> {
  const previewed = await step("Previewing the stack", () =>
    timed(() => stack.preview({ color: "never", onOutput, signal })).catch(withoutLog),
  );
  const { changeSummary } = previewed.result;
  const unchanged = Object.keys(changeSummary).every((op) => op === "same");
  const updated = unchanged
    ? undefined
    : await step("Updating the stack", () =>
        timed(() => stack.up({ color: "never", suppressOutputs: true, onOutput, signal })).catch(withoutLog),
      );
  const { outputs, resources } = await deployedBy(stack);
  return {
    url: String(outputs["url"]),
    audience: String(outputs["audience"] ?? ""),
    resources,
    changes: updated?.result.summary.resourceChanges ?? changeSummary,
    previewMs: previewed.ms,
    upMs: updated?.ms,
  };
}

/**
 * Returns the stack's outputs and the number of resources of each type. Does not count the stack itself or providers.
 */
async function deployedBy(stack: Stack) {
  const { deployment } = await stack.exportStack();
  const { resources = [] } = deployment as { resources?: { type: string; outputs?: object }[] };
  const counts: Record<string, number> = {};
  let outputs: Readonly<Record<string, unknown>> = {};
  for (const { type, outputs: own = {} } of resources) {
    if (type === "pulumi:pulumi:Stack") outputs = { ...own };
    else if (!type.startsWith("pulumi:providers:")) counts[type] = (counts[type] ?? 0) + 1;
  }
  const sorted = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
  return { outputs, resources: Object.fromEntries(sorted) };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: Math.round(performance.now() - started) };
}

/**
 * Rethrows an error. Reduces an engine failure of unknown cause to its error lines, because its message contains the
 * whole log.
 */
function withoutLog(error: unknown): never {
  if (!(error instanceof CommandError) || explain(error, commandsFor(STACK)).code !== undefined) throw error;
  const errors = error.message.split("\n").filter((line) => /^\s*(?:err\?: )?(?:\w*Error|error):/.test(line));
  const shown = [...new Set(errors.map((line) => line.trim()))].slice(0, MAX_ERRORS);
  throw new Error(["Pulumi failed. See the log named above.", ...shown].join("\n"), { cause: error });
}
