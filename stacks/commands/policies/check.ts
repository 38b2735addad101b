import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { runProcess, tail } from "../../../infra/shell/process.ts";
import { buildPolicyPack } from "../../../policies/build.ts";
import { engineOutput } from "../deployed/engine-output.ts";
import { type CommandOptions, openDeployed, sinkOf } from "../deployed/stack.ts";
import { type PolicyOptions, type PolicyViolation, previewWithPolicies } from "./preview.ts";

/** Files of an earlier run, which may be overwritten. A folder that contains other files is refused. */
const PACK_FILES = new Set([
  "PulumiPolicy.yaml",
  "index.cjs",
  "package.json",
  "package-lock.json",
  "node_modules",
]);
const INSTALL = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];

export interface PoliciesResult {
  violations: PolicyViolation[];
}

/**
 * Runs the policy pack on a stack's preview. Changes nothing. `say` receives the engine's report.
 *
 * @throws StewardError or BuildFailure if the preview fails for a reason other than a policy violation
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
 * Builds the policy pack in a folder and installs the pack's packages. The Pulumi CLI can run or publish the pack.
 *
 * @param folder New, empty, or the folder of an earlier pack.
 * @returns The folder's absolute path.
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
    const found = `${folder} contains ${foreign.sort().join(", ")}`;
    throw new BuildFailure("policy_folder_taken", found, "Use a new or empty folder.");
  }
  await buildPolicyPack(target);
  log?.("installing the pack's packages");
  const installed = await runProcess("npm", INSTALL, { cwd: target });
  if (installed.code !== 0) {
    throw new BuildFailure(
      "policy_packages_missing",
      `npm install failed in ${folder}: ${tail(installed, 5)}`,
      "Run it again when the package registry is reachable.",
    );
  }
  return target;
}
