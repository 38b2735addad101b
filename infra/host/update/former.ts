import { setTimeout as sleep } from "node:timers/promises";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { DATA_DIRECTORY, STATE_FILE } from "../../../runtime/contract/names.ts";
import { SCHEMA_LABEL } from "../../bundle/arguments.ts";
import { docker } from "../../shell/docker.ts";
import { run, tail } from "../../shell/process.ts";
import { copyContainer, inspectContainer } from "./copy.ts";

const READY_MS = 60_000;
const GONE_MS = 30_000;
const RETRY_AFTER_MS = 500;
const READ_SCHEMA = `const { DatabaseSync } = require("node:sqlite");
console.log(new DatabaseSync("${DATA_DIRECTORY}/${STATE_FILE}", { readOnly: true }).prepare("PRAGMA user_version").get().user_version);`;

/** The name under which the version before is kept until the next one answers. */
export function formerName(container: string): string {
  return `${container}-former`;
}

/**
 * Backs up the version that answers, and keeps what makes it come back: a container like its own, stopped.
 * After an update that failed it runs under the former's name already.
 *
 * @returns what was done. @throws StewardError `backup_failed`; nothing was changed then.
 */
export async function keepFormer(name: string): Promise<string> {
  const former = formerName(name);
  const answering = await firstReady([former, name]);
  if (answering === undefined) return "Nothing answers that could be gone back to.";
  const backup = await backUp(answering);
  if (answering === name) {
    await dropFormer(name);
    await copyContainer(name, former);
  }
  return `${former} is kept until the new version is ready. Its data is in the backup ${backup}.`;
}

/** Starts the container in the place of the version before, which is backed up where it runs. */
export async function putInPlace(name: string): Promise<void> {
  const former = formerName(name);
  if ((await inspectContainer(name))?.State.Running) return;
  if (await isReady(former)) await backUp(former);
  if (await inspectContainer(former)) await docker(["stop", former]);
  await docker(["start", name]);
}

/** Removes what was kept of the version before. Others may do so at the same time. */
export async function dropFormer(name: string): Promise<void> {
  const former = formerName(name);
  const end = Date.now() + GONE_MS;
  while (await inspectContainer(former)) {
    const removed = await run("docker", ["rm", "--force", former]);
    if (removed.code !== 0 && Date.now() > end) throw new Error(tail(removed));
    await sleep(removed.code === 0 ? 0 : RETRY_AFTER_MS);
  }
}

/** Puts the version before back, with its data where the new one has changed its form. @returns what to tell. */
export async function goBack(name: string): Promise<string> {
  const former = formerName(name);
  if (!(await inspectContainer(former))) {
    return `There is no version before to go back to: ${name} is left as it is.`;
  }
  await docker(["stop", name]);
  await docker(["update", "--restart=unless-stopped", former]);
  await docker(["start", former]);
  const restored = await restoreNewer(former);
  const end = Date.now() + READY_MS;
  while (!(await isReady(former))) {
    if (Date.now() > end) return `The version before does not answer either: docker logs ${former}.`;
    await sleep(RETRY_AFTER_MS);
  }
  const data = restored === undefined ? "" : `, with the data of the backup ${restored}`;
  return [
    `The version before answers again, as the container ${former}${data}.`,
    `The new container's log: docker logs ${name}. The next pulumi up tries again.`,
  ].join("\n");
}

/** The generation that was put back, where the data is newer than what the container reads. */
async function restoreNewer(container: string): Promise<string | undefined> {
  const found = await inspectContainer(container);
  const reads = Number(found?.Config.Labels?.[SCHEMA_LABEL] ?? Infinity);
  const asked = await run("docker", ["exec", container, "node", "-e", READ_SCHEMA]);
  if (asked.code !== 0 || Number(asked.stdout) <= reads) return undefined;
  const { stdout } = await docker(["exec", container, "steward", "backup", "list", "--json"]);
  const { backups } = JSON.parse(stdout) as { backups: { id: string }[] };
  const [newest] = backups;
  if (newest === undefined) return undefined;
  await docker(["exec", container, "steward", "backup", "restore", newest.id, "--yes"]);
  await docker(["restart", container]);
  return newest.id;
}

async function backUp(container: string): Promise<string> {
  const made = await run("docker", ["exec", container, "steward", "backup", "create", "--json"]);
  if (made.code === 0) return (JSON.parse(made.stdout) as { id: string }).id;
  throw new StewardError(
    "backup_failed",
    `${container} could not be backed up, so the update has not begun: ${tail(made)}\nWithout a backup: docker stop ${container}, then deploy again.`,
  );
}

async function firstReady(containers: readonly string[]): Promise<string | undefined> {
  for (const container of containers) if (await isReady(container)) return container;
  return undefined;
}

async function isReady(container: string): Promise<boolean> {
  return (await run("docker", ["exec", container, "steward", "health"])).code === 0;
}
