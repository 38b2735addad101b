import type { Stack, UpOptions } from "@pulumi/pulumi/automation/index.js";
import type { FormerVersion } from "../../../infra/serverless/former-version.ts";
import { whyNot, type VersionHealth } from "../../../infra/serverless/version-health.ts";
import type { CommandOutput } from "../../../infra/shell/command.ts";
import type { RolloutRecord } from "./record.ts";

type Shares = FormerVersion["versions"];

/** Gradual rollout of a new version of the Worker. */
export interface Canary {
  /** URN of the deployment. It and everything that depends on it are updated last. */
  deploymentUrn: string;
  /** Returns the version that the stack created last. */
  nextVersion(): Promise<string | undefined>;
  /** Deploys two versions, each with its percentage. */
  share(versions: Shares): Promise<void>;
  /** Sends the same requests to both versions for `watchMs` milliseconds. */
  compare(versionIds: readonly [string, string], watchMs: number): Promise<readonly VersionHealth[]>;
}

/** Dependencies of a rollout's canary. */
export interface CanaryRun {
  canary: Canary;
  former: FormerVersion;
  /** The percentages below 100 that the new version gets, one after the other. */
  shares: readonly number[];
  /** Time for which each share is watched. */
  watchMs: number;
  record: RolloutRecord;
  /** Options of the engine's output. */
  engine: Pick<UpOptions, "color" | "onOutput" | "onEvent">;
  say: CommandOutput["say"];
}

/**
 * Performs an update except for the deployment and what depends on it (the container, the probe, the registrations),
 * then raises the traffic share of the Worker's new version step by step and leaves it at the last share.
 *
 * @throws if the new version performs worse than the former one; the caller has to roll back.
 */
export async function takeShares(stack: Stack, run: CanaryRun): Promise<void> {
  const { canary, former, shares, watchMs, record, engine, say } = run;
  await stack.up({
    ...engine,
    exclude: [canary.deploymentUrn],
    excludeDependents: true,
    message: "canary",
    showSecrets: false,
  });
  const [most] = former.versions.toSorted((one, other) => other.percentage - one.percentage);
  const formerId = most?.versionId;
  const nextId = await canary.nextVersion();
  if (formerId === undefined || nextId === undefined || nextId === formerId) {
    say("\nThe Worker's version does not change, so there is nothing to deploy gradually.\n");
    return;
  }
  for (const percentage of shares) {
    // The order is the same at each step: a Durable Object that already runs the new version keeps it.
    await canary.share([
      { versionId: formerId, percentage: 100 - percentage },
      { versionId: nextId, percentage },
    ]);
    say(`\nThe new version has ${percentage} % of the requests.\n`);
    const [was, is] = await canary.compare([formerId, nextId], watchMs);
    if (was === undefined || is === undefined) throw new Error("nothing was measured");
    record.note("canary", { percentage, former: was, next: is });
    say(`${describe("The former version", was)}\n${describe("The new version", is)}\n`);
    const reason = whyNot(is, was);
    if (reason !== undefined) throw new Error(`At ${percentage} %: ${reason}.`);
  }
}

function describe(name: string, { requests, errors, medianMs }: VersionHealth): string {
  const speed = medianMs === undefined ? "" : `, ${medianMs} ms at the median`;
  return `${name}: ${errors} of ${requests} requests answered wrongly${speed}.`;
}
