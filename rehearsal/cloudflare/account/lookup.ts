import { ApiError } from "../envelope.ts";
import type { AccountState, BucketRecord, DeploymentRecord, VersionRecord, WorkerRecord } from "./state.ts";

/**
 * The Worker of that id or name: the API's path takes either.
 * 10007 is what Cloudflare answers for a script that does not exist.
 */
export function workerOf(state: AccountState, idOrName: string): WorkerRecord {
  const found = state.workers.find(({ id, name }) => id === idOrName || name === idOrName);
  if (found) return found;
  throw new ApiError(404, 10007, "This Worker does not exist on your account.");
}

/** A version of that Worker; "latest" names the newest. */
export function versionOf(state: AccountState, worker: WorkerRecord, id: string): VersionRecord {
  const own = state.versions.filter(({ workerId }) => workerId === worker.id);
  const found = id === "latest" ? own.at(-1) : own.find((version) => version.id === id);
  if (found) return found;
  throw new ApiError(404, 10211, `Version ${id} of Worker ${worker.name} does not exist.`);
}

/** The newest deployment, which is the one that serves. */
function activeDeployment(state: AccountState, workerId: string): DeploymentRecord | undefined {
  return state.deployments.findLast((deployment) => deployment.workerId === workerId);
}

/** A version that takes a share of a Worker's requests, in percent. */
export interface ServingShare {
  version: VersionRecord;
  percentage: number;
}

/** The versions that serve, the one with the largest share first, the newer of two equal ones. */
export function servingShares(state: AccountState, workerId: string): ServingShare[] {
  const shares = activeDeployment(state, workerId)?.versions ?? [];
  return shares
    .flatMap(({ version_id: id, percentage }) => {
      const version = state.versions.find((one) => one.id === id);
      return version ? [{ version, percentage }] : [];
    })
    .toSorted((left, right) => {
      return right.percentage - left.percentage || right.version.number - left.version.number;
    });
}

/** What the runner knows a version by that takes the smaller share. */
export function canaryScriptName(worker: WorkerRecord, version: VersionRecord): string {
  return `${worker.name}-${version.id}`;
}

/** The host name under which the Worker is reached: https://developers.cloudflare.com/workers/configuration/routing/workers-dev/ */
export function hostnameOf(state: AccountState, worker: WorkerRecord): string {
  return `${worker.name}.${state.subdomain}.workers.dev`;
}

/** The bucket of that name. The codes: https://developers.cloudflare.com/r2/api/error-codes/ */
export function bucketOf(state: AccountState, name: string): BucketRecord {
  const found = state.buckets.find((bucket) => bucket.name === name);
  if (found) return found;
  throw new ApiError(404, 10006, "The specified bucket does not exist.");
}
