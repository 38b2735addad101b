import path from "node:path";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { runProcess } from "../../../infra/shell/process.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { serverlessSettings } from "../deployed/config.ts";
import { type CommandOptions, type DeployedStack, openDeployed, sinkOf } from "../deployed/stack.ts";
import type { RecordEntry } from "../rollout/report.ts";
import { EXIT } from "../rollout/options.ts";
import { newestRecord } from "../rollout/record.ts";

/** Build to promote, and the stack on which it was proven. */
export interface Promotion extends DeployedBuild {
  from: string;
}

export function rolloutsOf(stack: string, { workDir = "." }: Pick<CommandOptions, "workDir">): string {
  return path.join(workDir, ".steward", "rollouts", stack);
}

/** Matches an image in a Cloudflare account's registry. */
const OF_ACCOUNT = /^[^/]+\/([0-9a-f]{32})\/steward@/;

/**
 * Returns the build that the stack `from` has deployed and probed.
 *
 * @throws StewardError `stack_not_serverless`; `promotion_unproven` if the stack runs no probed build;
 * `promotion_differs` if this checkout builds different code
 */
export async function promotionOf(
  from: string | undefined,
  options: CommandOptions,
): Promise<Promotion | undefined> {
  if (from === undefined) return undefined;
  const { log } = sinkOf(options);
  const stack = await openDeployed(from, { ...options, runsProgram: false });
  const proven = provenBuild(rolloutsOf(from, options), from);
  await requireUnchanged(stack, proven);
  const { hash } = await buildBundle();
  if (hash !== proven.bundle) {
    const built = `${from} has probed bundle ${proven.bundle}, but this checkout builds ${hash}.`;
    const whence = proven.commit === undefined ? "" : ` ${from} was rolled out from commit ${proven.commit}.`;
    throw new StewardError("promotion_differs", `${built}${whence}`);
  }
  const here = await commitOf();
  log(`Promoting from ${from}: bundle ${proven.bundle}, image ${proven.image}.`);
  if (here !== proven.commit) {
    log(
      `${from} was rolled out from commit ${proven.commit ?? "unknown"}, but this is commit ${here ?? "unknown"}.`,
    );
  }
  return { from, ...proven };
}

/**
 * Fails if the stack's account cannot pull the promoted image. An account's registry serves only that account.
 *
 * @throws StewardError `promotion_image_elsewhere`
 */
export async function requireReachable(
  deployed: DeployedStack,
  promoted: Promotion | undefined,
): Promise<void> {
  if (promoted === undefined) return;
  const { config } = serverlessSettings(await deployed.config());
  const owner = OF_ACCOUNT.exec(promoted.image)?.[1] ?? config.accountId;
  if (owner === config.accountId) return;
  throw new StewardError(
    "promotion_image_elsewhere",
    `${promoted.image} is in the registry of account ${owner}, but ${deployed.stack.name} uses account ${config.accountId}.`,
  );
}

/** Fails if the stack no longer runs the build that its recorded rollout probed. */
async function requireUnchanged({ stack, state }: DeployedStack, proven: DeployedBuild): Promise<void> {
  const { output } = await state();
  const [bundle, image] = [output("bundleHash"), output("image")];
  if (output("target") === "host") throw new StewardError("stack_not_serverless");
  if (bundle === proven.bundle && image === proven.image) return;
  throw unprovenError(
    stack.name,
    `${stack.name} is running bundle ${bundle} with image ${image}, but the last rollout recorded in this checkout verified bundle ${proven.bundle} with image ${proven.image}.`,
  );
}

/**
 * Returns the build that a stack's newest rollout deployed and probed. Ignores rollouts that stopped before their
 * update.
 *
 * @throws StewardError `promotion_unproven` if no rollout is recorded, or if the newest one did not succeed.
 */
function provenBuild(folder: string, stack: string): DeployedBuild {
  const newest = newestRecord(folder, (entries) => entries.some(namesBuild));
  if (newest === undefined) {
    throw unprovenError(stack, `No rollout of ${stack} is recorded in ${folder}.`);
  }
  const last = newest.at(-1);
  if (last?.step !== "ended") {
    throw rolloutFailed(stack, newest, `was interrupted at "${last?.step}"`);
  }
  if (last["exit"] !== EXIT.done || last["deployed"] === undefined) {
    throw rolloutFailed(stack, newest, `ended with ${String(last["exit"])}`);
  }
  return last["deployed"] as DeployedBuild;
}

/** Returns true if an entry shows that its rollout began to update the stack. */
function namesBuild({ step, deployed }: RecordEntry): boolean {
  return step === "updating" || deployed !== undefined;
}

function rolloutFailed(stack: string, [first]: readonly RecordEntry[], how: string): StewardError {
  const began = first === undefined ? "" : ` of ${first.time}`;
  return unprovenError(stack, `The rollout${began} of ${stack} ${how}.`);
}

function unprovenError(source: string, detail: string): StewardError {
  return new StewardError("promotion_unproven", detail, {
    fix: ({ tool }) =>
      `Repeat \`${tool("rollout", source)}\` until it exits with 0, or copy the records of a successful rollout to .steward/rollouts/${source}/. Then promote again.`,
  });
}

/** Identity of a deployed build. Must be plain data, because a rollout's record stores it. */
export interface DeployedBuild {
  /** Hash of the Worker's and the container's code. */
  bundle: string;
  /** The container's image, with digest if pushed. */
  image: string;
  /** Git commit, with the suffix `-dirty` if files were changed. Absent outside a repository. */
  commit?: string;
}

export async function deployedBuild(output: (name: string) => string): Promise<DeployedBuild> {
  const commit = await commitOf();
  return { bundle: output("bundleHash"), image: output("image"), ...(commit !== undefined && { commit }) };
}

async function commitOf(): Promise<string | undefined> {
  const words = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"];
  const { code, stdout } = await runProcess("git", words, { cwd: import.meta.dirname });
  return code === 0 ? stdout.trim() : undefined;
}
