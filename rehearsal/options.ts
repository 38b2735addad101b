import path from "node:path";
import { Argument, Option } from "commander";
import { shellWord } from "../runtime/contract/operator-commands.ts";
import { commandParser } from "../infra/shell/command.ts";
import type { Target } from "../infra/gateway/args.ts";
import { TOURS, type TourName } from "./tour/names.ts";

/** What can be rehearsed. */
export const TARGETS = ["serverless", "host"] as const satisfies readonly Target[];

/** How the container of the serverless stack runs on this machine. */
export type SandboxChoice = "auto" | "docker" | "process";

/** What `npm start` was asked for. */
export interface RehearsalOptions {
  /** `undefined` where none was named. */
  target: Target | undefined;
  /** Send one message through, then end. */
  once: boolean;
  /** One JSON object as the last line on standard output; progress goes to standard error. */
  json: boolean;
  /** Remove everything that rehearsals left. */
  destroy: boolean;
  sandbox: SandboxChoice;
  /** Prints Pulumi's log, and lists every resource type and the limits of the emulation. */
  verbose: boolean;
  /** Folder of the state and the emulated account. */
  dir: string;
}

/** This command, as a person types it. */
export const SCRIPT = "npm start --";

const FOLDER = ".steward";

/** Returns the `npm start` command for a folder of rehearsals, as it is typed in the checkout. */
export function startCommand({ dir, target }: { dir: string; target?: string }, ...words: string[]): string {
  const isDefault = path.resolve(dir) === path.resolve(FOLDER);
  const place = isDefault ? [] : ["--dir", path.resolve(dir)];
  const named = target === undefined || target === "serverless" ? [] : [target];
  return [SCRIPT, ...[...named, ...words, ...place].map(shellWord)].join(" ").replace(/ --$/, "");
}

/** Parses the command line. Throws a CommanderError if the arguments are invalid. */
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
    .addHelpText("after", `\nTours, each on a stack of its own that it removes at its end:\n${tourList()}`)
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
