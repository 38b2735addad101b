import { StewardError } from "../../../runtime/contract/errors.ts";
import type { Entry } from "../rollout/entry.ts";
import { EXIT } from "../rollout/options.ts";
import { newestRecord } from "../rollout/record.ts";
import type { DeployedBuild } from "./deployed.ts";

/**
 * What the newest rollout of a stack has proven: it was deployed, and it answered its probe.
 *
 * @param folder where the stack's rollouts are recorded
 * @throws StewardError `promotion_unproven` where the newest one that has changed something did not end well.
 */
export function provenIn(folder: string, stack: string): DeployedBuild {
  const newest = newestRecord(folder, (entries) => entries.some(tellsWhatRuns));
  if (newest === undefined) {
    throw new StewardError("promotion_unproven", `No rollout of ${stack} is recorded in ${folder}.`);
  }
  const last = newest.at(-1);
  if (last?.step !== "ended") {
    throw unproven(stack, newest, `was interrupted at "${last?.step}"`);
  }
  if (last["exit"] !== EXIT.done || last["deployed"] === undefined) {
    throw unproven(stack, newest, `ended with ${String(last["exit"])}`);
  }
  return last["deployed"] as DeployedBuild;
}

/** A rollout that only looked, or was stopped before its update, leaves what was proven before. */
function tellsWhatRuns({ step, deployed }: Entry): boolean {
  return step === "updating" || deployed !== undefined;
}

function unproven(stack: string, [first]: readonly Entry[], how: string): StewardError {
  const began = first === undefined ? "" : ` of ${first.time}`;
  return new StewardError("promotion_unproven", `The rollout${began} of ${stack} ${how}.`);
}
