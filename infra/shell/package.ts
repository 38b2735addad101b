import path from "node:path";
import { fileURLToPath } from "node:url";
import { operatorCommands, type OperatorCommands } from "../../runtime/contract/operator-commands.ts";

/** Folder of this package: the checkout, or the place where a release is installed. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Name of the package that people install. */
export const PACKAGE = "steward-gateway";

/** True where a release runs. It is compiled, and holds what a checkout builds: the bundles and the policy pack. */
export const IS_RELEASE = path.extname(import.meta.filename) === ".js";

/**
 * Returns the file of a program of this package, which another process is to run.
 *
 * @param name its path without an extension, such as `infra/readiness/probe`
 */
export function packageProgramFile(name: string): string {
  return path.join(ROOT, `${name}${IS_RELEASE ? ".js" : ".ts"}`);
}

/** Interpreter of a `command` resource that runs a program of this package, given by {@link programText}. */
export const INTERPRETER = IS_RELEASE ? ["node", "--input-type=module", "--eval"] : [process.execPath];

/**
 * Returns the argument that a `command` resource passes to {@link INTERPRETER}. A release is imported by its package
 * name from the project's folder: a path differs between machines and would show as a change in every preview.
 */
export function programText(name: string): string {
  return IS_RELEASE ? `await import("${PACKAGE}/${name}.js");` : packageProgramFile(name);
}

/**
 * Returns the commands that are printed for a stack, as they are typed at this installation.
 *
 * @param stack as the operator names it; without it the commands have a placeholder
 * @param configFile the stack's settings file, if it is not where the project keeps it
 */
export function commandsFor(stack?: string, configFile?: string): OperatorCommands {
  // Set by `npm run pulumi`: an operator who needs it once needs it for the next command too.
  const pulumi = process.env[PULUMI_LAUNCHER] || "pulumi";
  return operatorCommands({ stack, pulumi, script: commandLine, configFile });
}

/** The variable that names what starts the Pulumi CLI, if that is not `pulumi`. */
export const PULUMI_LAUNCHER = "STEWARD_PULUMI";

/** Returns a command of this package as a person types it: `npm run drift --`, or `npx steward-deploy drift`. */
export function commandLine(name: string): string {
  return IS_RELEASE ? `npx steward-deploy ${name}` : `npm run ${name} --`;
}

/** Says in a project's Pulumi.yaml where the engine finds this package's provider. */
export const PLUGIN_ENTRY = `plugins: {providers: [{name: steward, path: ${IS_RELEASE ? `node_modules/${PACKAGE}` : "."}}]}`;
