import { Argument, Command } from "commander";
import { readPolicyConfig } from "../policies/options.ts";
import type { PolicyConfig } from "../policies/preview.ts";

/** What `npm run rollout` was asked for. */
export interface RolloutOptions {
  stack: string;
  /** Previews and says what would stop it, and changes nothing. */
  planOnly: boolean;
  /** Nobody is asked. */
  yes: boolean;
  /** The tag of the migration that may be applied. */
  accept: string | undefined;
  /** Levels and values of the policies. */
  config: PolicyConfig;
  /** The stack whose proven deployment is promoted. */
  promoteFrom: string | undefined;
  /** When the last backup was taken, as ISO 8601. */
  backup: string | undefined;
}

/** How a rollout ends; a pipeline branches on it. */
export const EXIT = {
  /** Deployed, or there was nothing to do. */
  done: 0,
  /** It has not begun: wrong words, a wrong configuration, an engine that does not answer. */
  notBegun: 1,
  /** It waits for somebody's word: a migration, a loss of state, or a yes. */
  waits: 2,
  /** A mandatory policy is broken. */
  refused: 3,
  /** It failed, and the former version answers. */
  wentBack: 4,
  /** It failed, and what answers has to be looked at. */
  failed: 5,
} as const;

/** Reads the command line. Throws on unknown words, after a suggestion on standard error. */
export async function readOptions(argv: readonly string[]): Promise<RolloutOptions> {
  const command = new Command("npm run rollout --")
    .description("Previews a stack under the policies, deploys it, and goes back where it does not answer.")
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--plan-only", "preview alone: what would change, and what would stop it", false)
    .option("--yes", "ask nobody", false)
    .option("--accept-migration <tag>", "this migration may be applied, as v2")
    .option("--promote-from <stack>", "deploy what this stack has deployed and probed, and nothing else")
    .option("--config <file>", "a policy configuration: the levels and values of the rules")
    .option("--backup <time>", "when the last backup was taken, as ISO 8601")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nEnds with 0 when deployed or nothing to do, 2 where it waits for a word, 3 where a policy is broken," +
        "\n4 where it failed and the former version answers, 5 where it failed otherwise, 1 where it has not begun.",
    )
    .showHelpAfterError()
    .exitOverride()
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { planOnly, yes, acceptMigration, promoteFrom, ...policies } = command.opts<{
    planOnly: boolean;
    yes: boolean;
    acceptMigration?: string;
    promoteFrom?: string;
    config?: string;
    backup?: string;
  }>();
  if (promoteFrom === stack) {
    throw new Error(`${stack} is not promoted to itself. Fix: --promote-from with the stack before it`);
  }
  const accept = acceptMigration;
  return { stack, planOnly, yes, accept, promoteFrom, ...(await readPolicyConfig(policies)) };
}
