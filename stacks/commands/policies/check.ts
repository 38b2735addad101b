import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { runProcess, tail } from "../../../infra/shell/process.ts";
import { buildPolicyPack } from "../../../policies/build.ts";
import { engineOutput } from "../deployed/engine-output.ts";
import { type CommandOptions, openDeployed, sinkOf } from "../deployed/stack.ts";
import { type PolicyOptions, type PolicyViolation, previewWithPolicies } from "./preview.ts";

/** Files that an earlier run may have left in the folder; any other file is somebody's own. */
const PACK_FILES = new Set([
  "PulumiPolicy.yaml",
  "index.cjs",
  "package.json",
  "package-lock.json",
  "node_modules",
]);
const INSTALL = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];

/** Result of {@link policies}. */
export interface PoliciesResult {
  /** Empty if the stack keeps every rule. */
  violations: PolicyViolation[];
}

/**
 * Runs the policy pack on the preview of a stack. Changes nothing. Violations are in the result; the engine's report
 * goes to `say`.
 *
 * @throws StewardError, BuildFailure if there is no preview
 */
export async function policies(
  stackName: string,
  options: CommandOptions & PolicyOptions = {},
): Promise<PoliciesResult> {
  const { say } = sinkOf(options);
  const stack = await openDeployed(stackName, { ...options, runsProgram: true });
  const engine = engineOutput((line) => say(`${line}\n`));
  const { config, backup } = options;
  try {
    return { violations: await previewWithPolicies(stack, { config, backup, onOutput: engine.onOutput }) };
  } finally {
    engine.end();
  }
}

/**
 * Makes the policy pack in a folder, with its packages from the registry: it runs from wherever the folder is, and the
 * Pulumi CLI publishes it from there.
 *
 * @param folder new, empty, or with a pack that this function made
 * @returns the folder's absolute path
 * @throws BuildFailure `policy_folder_taken`, `policy_packages_missing`
 */
export async function makePolicyPack(
  folder: string,
  { log }: Pick<CommandOptions, "log"> = {},
): Promise<string> {
  const target = path.resolve(folder);
  await mkdir(target, { recursive: true });
  const foreign = (await readdir(target)).filter((name) => !PACK_FILES.has(name));
  if (foreign.length > 0) {
    const found = `${folder} holds ${foreign.sort().join(", ")}`;
    throw new BuildFailure("policy_folder_taken", found, "Give a new or an empty folder.");
  }
  await buildPolicyPack(target);
  log?.("installing the pack's packages");
  const installed = await runProcess("npm", INSTALL, { cwd: target });
  if (installed.code !== 0) {
    throw new BuildFailure(
      "policy_packages_missing",
      `npm install failed in ${folder}: ${tail(installed, 5)}`,
      "Run this once where the package registry can be reached.",
    );
  }
  return target;
}
