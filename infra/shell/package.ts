import path from "node:path";
import { fileURLToPath } from "node:url";
import { operatorCommands, type OperatorCommands } from "../../runtime/contract/operator-commands.ts";

/** Root of this package: the checkout, or the installed release. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const PACKAGE = "steward-gateway";

/** True for a compiled release, which includes the bundles and the policy pack. */
export const IS_RELEASE = path.extname(import.meta.filename) === ".js";

/**
 * Returns the absolute path of a program in this package.
 *
 * @param name path within the package, without extension, such as `infra/readiness/probe`
 */
export function packageProgramFile(name: string): string {
  return path.join(ROOT, `${name}${IS_RELEASE ? ".js" : ".ts"}`);
}

/** Command that runs the result of {@link programText} in a `command` resource. */
export const INTERPRETER = IS_RELEASE ? ["node", "--input-type=module", "--eval"] : [process.execPath];

/**
 * Returns the argument with which {@link INTERPRETER} runs a program. In a release, the argument contains the
 * package's name: a path would differ between machines and show as a change.
 */
export function programText(name: string): string {
  return IS_RELEASE ? `await import("${PACKAGE}/${name}.js");` : packageProgramFile(name);
}

/**
 * Returns the operator commands that errors and hints suggest for a stack.
 *
 * @param stack stack name in the commands. Default: a placeholder
 * @param configFile settings file, if it is not at the project's default path
 */
export function commandsFor(stack?: string, configFile?: string): OperatorCommands {
  // Suggest the launcher that the operator uses, such as `npm run pulumi`.
  const pulumi = process.env[PULUMI_LAUNCHER] || "pulumi";
  return operatorCommands({ stack, pulumi, script: commandLine, configFile });
}

/** Variable with the command that runs the Pulumi CLI. Default: `pulumi`. */
export const PULUMI_LAUNCHER = "STEWARD_PULUMI";

/** Returns a command as the user types it: `npm run drift --`, or `npx steward-deploy drift` in a release. */
export function commandLine(name: string): string {
  return IS_RELEASE ? `npx steward-deploy ${name}` : `npm run ${name} --`;
}

/** Line of Pulumi.yaml with which the engine finds this package's provider. */
export const PLUGIN_ENTRY = `plugins: {providers: [{name: steward, path: ${IS_RELEASE ? `node_modules/${PACKAGE}` : "."}}]}`;
