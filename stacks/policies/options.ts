import { readFile } from "node:fs/promises";
import { Argument, Command, Option } from "commander";
import type { Target } from "../config/schema.ts";
import { TARGETS } from "../rehearsal/options.ts";
import type { PolicyConfig } from "./preview.ts";

/** What `npm run policies` was asked for. */
export interface PolicyOptions {
  /** The stack's name; empty where a rehearsal's stack is looked at, or none. */
  stack: string;
  /** Where the pack is made ready to be published; no stack is looked at then. */
  publishDir: string | undefined;
  rehearse: Target | undefined;
  /** Levels and values of the rules. */
  config: PolicyConfig;
  /** When the last backup was taken, as ISO 8601. */
  backup: string | undefined;
}

/** Reads the command line and the policy configuration. Throws on unknown words, after a suggestion on standard error. */
export async function readOptions(argv: readonly string[]): Promise<PolicyOptions> {
  const command = new Command("npm run policies --")
    .description("Runs the policy pack on a stack's preview. Nothing is changed.")
    .addArgument(new Argument("[stack]", "the stack, of the backend that pulumi is logged in to"))
    .addOption(
      new Option("--rehearse <target>", "the rehearsal's stack in place of one of a backend").choices(
        TARGETS,
      ),
    )
    .option("--config <file>", "a policy configuration: the levels and values of the rules")
    .option("--backup <time>", "when the last backup was taken, as ISO 8601")
    .option("--publish-dir <folder>", "make the pack in this folder with its packages, to be published")
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack = ""] = command.processedArgs as [string | undefined];
  const { rehearse, config, backup, publishDir } = command.opts<{
    rehearse?: Target;
    config?: string;
    backup?: string;
    publishDir?: string;
  }>();
  const named = [stack || undefined, rehearse, publishDir].filter((one) => one !== undefined);
  if (named.length !== 1) {
    throw new Error("which stack? Fix: give a stack's name, or --rehearse serverless or host");
  }
  return { stack, rehearse, publishDir, ...(await readPolicyConfig({ config, backup })) };
}

/** What the policies are told, of the words of a command. Throws where it cannot be read. */
export async function readPolicyConfig({
  config,
  backup,
}: {
  config?: string | undefined;
  backup?: string | undefined;
}): Promise<Pick<PolicyOptions, "config" | "backup">> {
  if (backup !== undefined && Number.isNaN(Date.parse(backup))) {
    throw new Error("--backup is not a time. Fix: write it like 2026-01-31T09:30:00Z");
  }
  return { config: config === undefined ? {} : await readConfig(config), backup };
}

async function readConfig(file: string): Promise<PolicyConfig> {
  try {
    const config: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof config === "object" && config !== null && !Array.isArray(config)) return { ...config };
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${String(error)}`, { cause: error });
  }
  throw new Error(`${file} is not a policy configuration. Fix: an object with a rule's name as each key`);
}
