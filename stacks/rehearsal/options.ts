import path from "node:path";
import { Command, Option } from "commander";
import type { Target } from "../config/schema.ts";

/** How the container of the serverless stack runs on this machine. */
export type SandboxChoice = "auto" | "docker" | "process";

/** What `npm start` was asked for. */
export interface RehearsalOptions {
  target: Target;
  /** Send one message through, then end. */
  once: boolean;
  /** One JSON object as the last line on standard output; progress goes to standard error. */
  json: boolean;
  /** Remove everything that rehearsals left. */
  destroy: boolean;
  sandbox: SandboxChoice;
  /** Where state and the emulated account are kept. */
  dir: string;
}

/** Reads the command line. Unknown words end the process with a suggestion. */
export function readOptions(argv: readonly string[]): RehearsalOptions {
  const command = new Command("npm start --")
    .description("Deploys a stack on this machine, with the real engine and without an account.")
    .argument("[target]", "serverless or host", "serverless")
    .option("--once", "send one message through, print the reply, and end", false)
    .option("--json", "print one JSON object as the last line", false)
    .option("--destroy", "destroy the stack and remove everything that was kept", false)
    .addOption(
      new Option("--sandbox <kind>", "how the serverless stack's container runs")
        .choices(["auto", "docker", "process"])
        .default("auto"),
    )
    .option("--dir <path>", "where state and the emulated account are kept", ".steward")
    .showHelpAfterError()
    .parse(argv, { from: "user" });
  const [target = ""] = command.processedArgs as string[];
  if (target !== "serverless" && target !== "host") {
    return command.error(`error: the target is serverless or host, not "${target}"`);
  }
  const options = command.opts<Omit<RehearsalOptions, "target">>();
  return { ...options, target, dir: path.resolve(options.dir) };
}
