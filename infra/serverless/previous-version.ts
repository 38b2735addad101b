import {
  type ApplicationSettings,
  applyChanges,
  findApplication,
  maxInstancesLine,
} from "./container-api.ts";
import type { AccountAccess } from "./account-api.ts";
import { deployVersions, newestDeployment, type Share, sharesText } from "./deployment.ts";

export interface DeployedNames {
  access: AccountAccess;
  scriptName: string;
  applicationName: string;
}

/** JSON-serializable data for a rollback to the version that was live before a deployment. */
export interface PreviousVersion {
  versions: Share[];
  application: ApplicationSettings | undefined;
}

/** Returns the currently live version, or `undefined` if nothing is deployed. */
export async function readPreviousVersion(deployed: DeployedNames): Promise<PreviousVersion | undefined> {
  const { access, scriptName, applicationName } = deployed;
  const newest = await newestDeployment(access, scriptName);
  if (newest === undefined) return undefined;
  const application = await findApplication(access, applicationName);
  return { versions: newest.versions, application: application && settingsOf(application) };
}

/**
 * Restores the Worker's previous deployment, and its container's previous image and settings. A running container
 * stops after a final backup.
 *
 * @returns one line per change
 */
export async function restorePreviousVersion(
  { access, scriptName, applicationName }: DeployedNames,
  previous: PreviousVersion,
): Promise<string[]> {
  const done: string[] = [];
  const newest = await newestDeployment(access, scriptName);
  if (sharesText(newest?.versions ?? []) !== sharesText(previous.versions)) {
    await deployVersions(access, scriptName, previous.versions, "restore the previous version");
    done.push(`The Worker is back at ${sharesText(previous.versions)}.`);
  }
  const live = await findApplication(access, applicationName);
  if (live !== undefined && previous.application !== undefined && !isSame(live, previous.application)) {
    const { image, instanceType, maxInstances } = previous.application;
    await applyChanges(access, live, previous.application);
    if (live.image !== image || live.instanceType !== instanceType)
      done.push(`The container is back at ${image}.`);
    if (live.maxInstances !== maxInstances)
      done.push(`${maxInstancesLine(live.maxInstances, maxInstances)}.`);
  }
  return done;
}

function settingsOf({ image, instanceType, maxInstances }: ApplicationSettings): ApplicationSettings {
  return { image, instanceType, maxInstances };
}

function isSame(one: ApplicationSettings, other: ApplicationSettings): boolean {
  return JSON.stringify(settingsOf(one)) === JSON.stringify(settingsOf(other));
}
