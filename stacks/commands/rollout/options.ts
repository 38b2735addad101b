import { commandLine } from "../../../infra/shell/package.ts";
import type { CommandOptions } from "../deployed/stack.ts";
import { Argument, Option } from "commander";
import { commandParser, usageError } from "../../../infra/shell/command.ts";
import { LAST_BACKUP, POLICY_CONFIG, readPolicyConfig } from "../policies/options.ts";
import type { PolicyOptions } from "../policies/preview.ts";
import type { UpdatePlan } from "./plan.ts";

export interface RolloutOptions extends CommandOptions, PolicyOptions {
  /** If true, only previews the update and reports what would block it. Default: false. */
  planOnly?: boolean | undefined;
  /** If true, starts without calling `confirm`. Default: false. */
  yes?: boolean | undefined;
  /**
   * Called before the first change, unless `yes` is set. Returns `true` to start, or the reason not to start.
   * Default: the rollout does not start.
   */
  confirm?: ((plan: UpdatePlan) => Promise<true | string>) | undefined;
  /** Tag of the migration that may be applied, such as `v2`. */
  accept?: string | undefined;
  /** If true, accepts that the new version interprets past events differently. Default: false. */
  acceptReplay?: boolean | undefined;
  /** Stack whose proven deployment is promoted. */
  promoteFrom?: string | undefined;
  /** If true, skips the backup before the update. Default: false. */
  withoutBackup?: boolean | undefined;
}

/** Exit codes of a rollout, for pipelines. */
export const EXIT = {
  /** Deployed, or nothing to do. */
  done: 0,
  /** The rollout has not started: invalid arguments or configuration, or the engine does not respond. */
  notBegun: 1,
  /** Approval is needed for a migration, a loss of data, or the rollout itself. */
  waits: 2,
  /** A mandatory policy is broken. */
  refused: 3,
  /** The update failed, and the previous version answers again. */
  wentBack: 4,
  /** The update and its rollback failed. Somebody has to inspect the running version. */
  failed: 5,
} as const;

export const SCRIPT = commandLine("rollout");

export const ACCEPT_MIGRATION = new Option(
  "--accept-migration <tag>",
  "tag of the migration to allow, for example v2",
);
export const ACCEPT_REPLAY = new Option(
  "--accept-replay",
  "deploy even if the new version interprets replayed events differently",
).default(false);
export const WITHOUT_BACKUP = new Option("--without-backup", "skip the backup before the update").default(
  false,
);

export async function readOptions(argv: readonly string[]): Promise<RolloutOptions & { stack: string }> {
  const command = commandParser(
    SCRIPT,
    "Previews a stack, checks it against the policies, deploys it, and rolls back if the new version does not answer.",
  )
    .addArgument(new Argument("<stack>", "a stack in the backend that Pulumi is logged in to"))
    .option("--plan-only", "only preview what would change and what would block it", false)
    .option("--yes", "skip confirmation", false)
    .addOption(ACCEPT_MIGRATION)
    .addOption(ACCEPT_REPLAY)
    .option("--promote-from <stack>", "deploy exactly the version that the named stack deployed and probed")
    .addOption(WITHOUT_BACKUP)
    .addOption(POLICY_CONFIG)
    .addOption(LAST_BACKUP)
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 deployed or nothing to do; 2 approval needed or invalid arguments; 3 policy violated;" +
        "\n4 rollout failed, rolled back; 5 rollout failed, not rolled back; 1 rollout not started.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { planOnly, yes, acceptMigration, acceptReplay, promoteFrom, withoutBackup, ...policies } =
    command.opts<{
      planOnly: boolean;
      yes: boolean;
      acceptMigration?: string;
      acceptReplay: boolean;
      promoteFrom?: string;
      withoutBackup: boolean;
      config?: string;
      backup?: string;
    }>();
  if (promoteFrom === stack) {
    throw usageError(`${stack} cannot be promoted to itself; name a different stack in --promote-from`);
  }
  return {
    stack,
    planOnly,
    yes,
    accept: acceptMigration,
    acceptReplay,
    promoteFrom,
    withoutBackup,
    ...(await readPolicyConfig(policies)),
  };
}
