import { ApiError } from "../envelope.ts";
import type { AccountState, BucketRecord, DeploymentRecord, VersionRecord, WorkerRecord } from "./state.ts";

/**
 * Returns a Worker by id or name, because API paths may contain either.
 *
 * @throws ApiError 10007, Cloudflare's code for an unknown script
 */
export function workerOf(state: AccountState, idOrName: string): WorkerRecord {
  const found = state.workers.find(({ id, name }) => id === idOrName || name === idOrName);
  if (found) return found;
  throw new ApiError(404, 10007, "This Worker does not exist on your account.");
}

/** Returns a version by id, or the newest version for "latest". */
export function versionOf(state: AccountState, worker: WorkerRecord, id: string): VersionRecord {
  const own = state.versions.filter(({ workerId }) => workerId === worker.id);
  const found = id === "latest" ? own.at(-1) : own.find((version) => version.id === id);
  if (found) return found;
  throw new ApiError(404, 10211, `Version ${id} of Worker ${worker.name} does not exist.`);
}

/** Returns the newest deployment, which serves all requests. */
function activeDeployment(state: AccountState, workerId: string): DeploymentRecord | undefined {
  return state.deployments.findLast((deployment) => deployment.workerId === workerId);
}

export interface ServingShare {
  version: VersionRecord;
  percentage: number;
}

/** Returns the versions that serve requests, the largest share first. */
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

/** Returns the name of the script that runs the version with the smaller share. */
export function canaryScriptName(worker: WorkerRecord, version: VersionRecord): string {
  return `${worker.name}-${version.id}`;
}

/** https://developers.cloudflare.com/workers/configuration/routing/workers-dev/ */
export function hostnameOf(state: AccountState, worker: WorkerRecord): string {
  return `${worker.name}.${state.subdomain}.workers.dev`;
}

/** Error codes: https://developers.cloudflare.com/r2/api/error-codes/ */
export function bucketOf(state: AccountState, name: string): BucketRecord {
  const found = state.buckets.find((bucket) => bucket.name === name);
  if (found) return found;
  throw new ApiError(404, 10006, "The specified bucket does not exist.");
}
