import { Argument, Command } from "commander";

/** What `npm run migrate` was asked for. */
export interface MigrateOptions {
  stack: string;
  /** The Worker's new name. */
  workerName: string;
  /** The tag of the migration that is accepted; without it nothing is written. */
  accept: string | undefined;
}

/** Reads the command line. Throws on unknown words, after a suggestion on standard error. */
export function readOptions(argv: readonly string[]): MigrateOptions {
  const command = new Command("npm run migrate --")
    .description("Gives a stack's Worker another name, with the migration that this takes.")
    .addArgument(new Argument("<stack>", "a serverless stack, of the backend that pulumi is logged in to"))
    .requiredOption("--worker-name <name>", "the new name")
    .option("--accept-migration <tag>", "write the change to the stack's settings; the tag is the preview's")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nEnds with 0 where the change was written, 2 where it waits to be accepted, else 1.",
    )
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { workerName, acceptMigration } = command.opts<{ workerName: string; acceptMigration?: string }>();
  return { stack, workerName, accept: acceptMigration };
}
