import { Argument, Command } from "commander";

/** What `npm run orphans` was asked for. */
export interface OrphansOptions {
  /** The stack whose account is looked at. */
  stack: string;
  /** The id of the one to remove; without it they are listed. */
  remove: string | undefined;
  /** One JSON object on standard output. */
  json: boolean;
}

/** Reads the command line. Throws on unknown words, after a suggestion on standard error. */
export function readOptions(argv: readonly string[]): OrphansOptions {
  const command = new Command("npm run orphans --")
    .description("Lists the container applications that deleted Workers have left in a stack's account.")
    .addArgument(new Argument("<stack>", "a serverless stack, of the backend that pulumi is logged in to"))
    .option("--remove <id>", "remove this one; one that is in use is refused")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nEnds with 0 where there is none or one was removed, 2 where there are some, else 1.",
    )
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { remove, json } = command.opts<{ remove?: string; json: boolean }>();
  return { stack, remove, json };
}
