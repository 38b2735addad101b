import { Argument, Command } from "commander";

/** What `npm run backup` was asked for. */
export interface BackupOptions {
  stack: string;
  /** Makes one first. */
  create: boolean;
  /** Checks the newest one by a drill. */
  verify: boolean;
}

/** Reads the command line. Throws on unknown words, after a suggestion on standard error. */
export function readOptions(argv: readonly string[]): BackupOptions {
  const command = new Command("npm run backup --")
    .description("Asks a deployed stack for its backups; makes or checks one where it is told to.")
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--create", "make one now; starts a stopped container", false)
    .option("--verify", "unpack the newest one aside and check it; starts a stopped container", false)
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nEnds with 0 where there is one, the last attempt to make one succeeded and, with --verify, the newest is whole;" +
        "\n2 where not; 1 where the service could not be asked.",
    )
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { create, verify } = command.opts<{ create: boolean; verify: boolean }>();
  return { stack, create, verify };
}
