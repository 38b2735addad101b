import { Argument, Command } from "commander";
import { readPolicyConfig } from "../policies/options.ts";
import type { PolicyConfig } from "../policies/preview.ts";

/** What `npm run preview` was asked for. */
export interface PreviewOptions {
  stack: string;
  /** Where the Markdown goes. */
  out: string;
  /** A preview accepts no migration: it tells which one is to be accepted. */
  accept: undefined;
  /** Levels and values of the policies. */
  config: PolicyConfig;
  /** When the last backup was taken, as ISO 8601. */
  backup: string | undefined;
}

/** Reads the command line. Throws on unknown words, after a suggestion on standard error. */
export async function readOptions(argv: readonly string[]): Promise<PreviewOptions> {
  const command = new Command("npm run preview --")
    .description("Writes a stack's preview under the policies as Markdown. Changes nothing.")
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--out <file>", "where the Markdown goes", "preview.md")
    .option("--config <file>", "a policy configuration: the levels and values of the rules")
    .option("--backup <time>", "when the last backup was taken, as ISO 8601")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", "\nEnds with 0, 3 where a mandatory policy is broken, 1 where the preview fails.")
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { out, ...policies } = command.opts<{ out: string; config?: string; backup?: string }>();
  return { stack, out, accept: undefined, ...(await readPolicyConfig(policies)) };
}
