import type Cloudflare from "cloudflare";
import type { Deployment, DeploymentListResponse } from "cloudflare/resources/workers/scripts/deployments";
import { type ApplicationSettings, applyChanges, findApplication } from "./container-api.ts";

/** Names by which a serverless stack's Worker and container are found. */
export interface Deployed {
  accountId: string;
  scriptName: string;
  /** The container application's name. */
  applicationName: string;
}

/** Facts needed to put the live version back. Plain data. */
export interface FormerVersion {
  /** Id of the newest deployment. */
  deployment: string;
  versions: { version_id: string; percentage: number }[];
  application: ApplicationSettings | undefined;
}

/** Returns what is live now; `undefined` where nothing was deployed. */
export async function readFormer(client: Cloudflare, deployed: Deployed): Promise<FormerVersion | undefined> {
  const newest = await newestDeployment(client, deployed);
  if (newest === undefined) return undefined;
  const application = await findApplication(client, {
    accountId: deployed.accountId,
    name: deployed.applicationName,
  });
  const versions = newest.versions.map(({ version_id, percentage }) => ({ version_id, percentage }));
  return { deployment: newest.id, versions, application: application && settingsOf(application) };
}

/**
 * Puts back what was live: the Worker's versions, and what its containers are made of. A container that runs ends
 * with its last copy, as at every rollout.
 *
 * @returns what was done, a line each; empty where all of it is live.
 */
export async function putBack(
  client: Cloudflare,
  deployed: Deployed,
  former: FormerVersion,
): Promise<string[]> {
  const { accountId, applicationName } = deployed;
  const done: string[] = [];
  const newest = await newestDeployment(client, deployed);
  if (JSON.stringify(newest?.versions.map(shareOf)) !== JSON.stringify(former.versions.map(shareOf))) {
    await setShares(client, deployed, former.versions, "back to the former version");
    done.push(`The Worker is back at ${former.versions.map(({ version_id: id }) => id).join(" and ")}.`);
  }
  const live = await findApplication(client, { accountId, name: applicationName });
  if (live !== undefined && former.application !== undefined && !isSame(live, former.application)) {
    await applyChanges(client, accountId, live, former.application);
    done.push(`The container is back at ${former.application.image}.`);
  }
  return done;
}

/** Deploys a Worker's versions, each with its percentage; together 100. */
export async function setShares(
  client: Cloudflare,
  { accountId, scriptName }: Deployed,
  versions: FormerVersion["versions"],
  message: string,
): Promise<void> {
  await client.workers.scripts.deployments.create(scriptName, {
    account_id: accountId,
    strategy: "percentage",
    versions,
    annotations: { "workers/message": message },
  });
}

/** A Worker that does not exist has none. */
async function newestDeployment(
  client: Cloudflare,
  { accountId, scriptName }: Deployed,
): Promise<Deployment | undefined> {
  try {
    // The client's own list reads pages of items, which this answer does not have.
    const { result } = await client.get<{ result: DeploymentListResponse }>(
      `/accounts/${accountId}/workers/scripts/${scriptName}/deployments`,
    );
    return result.deployments[0];
  } catch (error) {
    if (error instanceof Error && "status" in error && error.status === 404) return undefined;
    throw error;
  }
}

function shareOf({ version_id, percentage }: FormerVersion["versions"][number]): [string, number] {
  return [version_id, percentage];
}

function settingsOf({ image, instanceType, maxInstances }: ApplicationSettings): ApplicationSettings {
  return { image, instanceType, maxInstances };
}

function isSame(one: ApplicationSettings, other: ApplicationSettings): boolean {
  return JSON.stringify(settingsOf(one)) === JSON.stringify(settingsOf(other));
}
