import { runDeployed, timestamp, type AccountContext } from "./account/context.ts";
import { uuid } from "./account/ids.ts";
import { versionOf, workerOf } from "./account/lookup.ts";
import type { AccountState, DeploymentRecord, Settings } from "./account/state.ts";
import { ApiError, invalid } from "./envelope.ts";
import { applyMigrations } from "./migrations.ts";

/**
 * Deploys one or two versions whose shares add up to 100 percent. Applies their migrations first, and fails if the new
 * code does not start. A version with a new migration cannot share traffic with another version:
 * https://developers.cloudflare.com/workers/configuration/versions-and-deployments/gradual-deployments/
 */
export async function deploy(
  context: AccountContext,
  draft: AccountState,
  idOrName: string,
  shares: DeploymentRecord["versions"],
  annotations: Settings,
): Promise<DeploymentRecord> {
  const worker = workerOf(draft, idOrName);
  const sum = shares.reduce((total, { percentage }) => total + percentage, 0);
  if (shares.length > 2 || sum !== 100) {
    throw invalid("versions: one or two versions whose percentages add up to 100");
  }
  const versions = shares.map(({ version_id: id }) => versionOf(draft, worker, id));
  if (versions.length > 1 && versions.some(({ migrations, migrated }) => migrations && !migrated)) {
    throw invalid("versions: a version with a Durable Object migration is deployed at 100 percent");
  }
  for (const version of versions) applyMigrations(draft, worker, version);

  const now = timestamp(context);
  const deployment: DeploymentRecord = {
    id: uuid(),
    workerId: worker.id,
    created_on: now,
    versions: shares,
    annotations: { "workers/triggered_by": "deployment", ...annotations },
  };
  worker.deployed_on = now;
  draft.deployments.push(deployment);
  await runDeployed(context, draft).catch((error: unknown) => {
    // 10021 means that the script failed at startup: https://developers.cloudflare.com/workers/observability/errors/
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError(400, 10021, `The deployed version does not start in workerd: ${reason}`);
  });
  return deployment;
}
