import { Argument, Command } from "commander";

/** What `npm run drift` was asked for. */
export interface DriftOptions {
  stack: string;
  /** One JSON object on standard output. */
  json: boolean;
}

/** Reads the command line. Throws on unknown words, after a suggestion on standard error. */
export function readOptions(argv: readonly string[]): DriftOptions {
  const command = new Command("npm run drift --")
    .description("Compares what a stack has deployed with what is there now. Changes nothing.")
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--json", "print one JSON object", false)
    .addHelpText("after", "\nEnds with 0 where nothing has changed, 2 where something has, else 1.")
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  return { stack, json: command.opts<{ json: boolean }>().json };
}
