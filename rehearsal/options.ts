import path from "node:path";
import { Argument, Option } from "commander";
import { shellWord } from "../runtime/contract/operator-commands.ts";
import { commandParser } from "../infra/shell/command.ts";
import type { Target } from "../infra/gateway/args.ts";
import { TOURS, type TourName } from "./tour/names.ts";

export const TARGETS = ["serverless", "host"] as const satisfies readonly Target[];

export type SandboxChoice = "auto" | "docker" | "process";

export interface RehearsalOptions {
  /** Target that the arguments name, if any. */
  target: Target | undefined;
  once: boolean;
  /** True to print one JSON object as the last line of standard output, and progress to standard error. */
  json: boolean;
  destroy: boolean;
  sandbox: SandboxChoice;
  verbose: boolean;
  dir: string;
}

export const SCRIPT = "npm start --";

const FOLDER = ".steward";

/** Returns the `npm start` command to print for a folder of rehearsals. */
export function startCommand({ dir, target }: { dir: string; target?: string }, ...words: string[]): string {
  const isDefault = path.resolve(dir) === path.resolve(FOLDER);
  const place = isDefault ? [] : ["--dir", path.resolve(dir)];
  const named = target === undefined || target === "serverless" ? [] : [target];
  return [SCRIPT, ...[...named, ...words, ...place].map(shellWord)].join(" ").replace(/ --$/, "");
}

/** Parses the arguments. Throws a CommanderError if they are invalid. */
export function readOptions(argv: readonly string[]): RehearsalOptions & { tour: TourName | undefined } {
  const command = commandParser(
    SCRIPT,
    "Deploys a stack on this machine, with the real engine and without an account.",
  )
    .addArgument(
      new Argument("[what]", "a target to deploy (default: serverless), or a tour").choices([
        ...TARGETS,
        ...Object.keys(TOURS),
      ]),
    )
    .option("--once", "send one message through, print the reply, and end", false)
    .option("--json", "print one JSON object as the last line", false)
    .option("--destroy", "destroy the stack and remove all its files", false)
    .addOption(
      new Option("--sandbox <kind>", "how the serverless stack's container runs")
        .choices(["auto", "docker", "process"])
        .default("auto"),
    )
    .option(
      "--verbose",
      "also print Pulumi's log, resource types and what the emulation does not model",
      false,
    )
    .option("--dir <path>", "folder for state and the emulated account", FOLDER)
    .addHelpText("after", `\nTours, each on a separate stack that is removed at the end:\n${tourList()}`)
    .parse(argv, { from: "user" });
  const [what] = command.processedArgs as [Target | TourName | undefined];
  const options = command.opts<Omit<RehearsalOptions, "target">>();
  const tour = what !== undefined && what in TOURS ? (what as TourName) : undefined;
  const target = tour === undefined ? (what as Target | undefined) : undefined;
  return { ...options, target, tour, dir: path.resolve(options.dir) };
}

function tourList(): string {
  return Object.entries(TOURS)
    .map(([name, summary]) => `  ${name.padEnd(9)} ${summary}`)
    .join("\n");
}
