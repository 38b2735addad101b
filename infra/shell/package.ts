import path from "node:path";
import { fileURLToPath } from "node:url";
import { operatorCommands, type OperatorCommands } from "../../runtime/contract/operator-commands.ts";

/** Root of this package: the checkout, or the installed release. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const PACKAGE = "steward-gateway";

/** True for a compiled release, which includes the bundles and the policy pack. */
export const IS_RELEASE = path.extname(import.meta.filename) === ".js";

/** @param name path without extension, such as `infra/readiness/probe` */
export function packageProgramFile(name: string): string {
  return path.join(ROOT, `${name}${IS_RELEASE ? ".js" : ".ts"}`);
}

/** Runs {@link programText} in `command` resources. */
export const INTERPRETER = IS_RELEASE ? ["node", "--input-type=module", "--eval"] : [process.execPath];

/**
 * Returns the argument for {@link INTERPRETER}. A release is imported by package name, because a path differs between
 * machines and would show as a change in every preview.
 */
export function programText(name: string): string {
  return IS_RELEASE ? `await import("${PACKAGE}/${name}.js");` : packageProgramFile(name);
}

/**
 * Returns the commands to print for a stack.
 *
 * @param stack name in commands. Default: a placeholder
 * @param configFile settings file, if it is not at the project's default path
 */
export function commandsFor(stack?: string, configFile?: string): OperatorCommands {
  // Set by `npm run pulumi`. An operator who used that also needs it for the next command.
  const pulumi = process.env[PULUMI_LAUNCHER] || "pulumi";
  return operatorCommands({ stack, pulumi, script: commandLine, configFile });
}

/** Variable with the launcher of the Pulumi CLI, if that is not `pulumi`. */
export const PULUMI_LAUNCHER = "STEWARD_PULUMI";

/** As typed: `npm run drift --`, or `npx steward-deploy drift`. */
export function commandLine(name: string): string {
  return IS_RELEASE ? `npx steward-deploy ${name}` : `npm run ${name} --`;
}

/** Line of Pulumi.yaml that tells the engine where this package's provider is. */
export const PLUGIN_ENTRY = `plugins: {providers: [{name: steward, path: ${IS_RELEASE ? `node_modules/${PACKAGE}` : "."}}]}`;
