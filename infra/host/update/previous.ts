import { type ErrorCode, StewardError } from "../../../runtime/contract/errors.ts";
import { CONTAINER_USER, DATA_DIRECTORY, STATE_FILE } from "../../../runtime/contract/names.ts";
import { parseJson } from "../../../runtime/shared/json.ts";
import { SCHEMA_LABEL } from "../../bundle/arguments.ts";
import { type Finished, tail } from "../../shell/process.ts";
import type { Containers, InspectedContainer } from "./containers.ts";

/** Failed health checks after which a container counts as not ready. A busy gateway may answer late. */
const READY_ATTEMPTS = 3;
const READY_MS = 60_000;
const GONE_MS = 30_000;
/** Maximum wait for another backup in progress, in milliseconds. */
const BACKUP_MS = 60_000;
const RETRY_AFTER_MS = 500;
/**
 * Script that prints the data's schema version, or 0 without data. As root, it first switches to the data's owner,
 * because the container's root cannot read the data.
 */
const READ_SCHEMA = `if (process.getuid() === 0) process.setuid(${CONTAINER_USER});
const { DatabaseSync } = require("node:sqlite");
const file = "${DATA_DIRECTORY}/${STATE_FILE}";
const open = () => new DatabaseSync(file, { readOnly: true, timeout: 5000 });
const read = () => open().prepare("PRAGMA user_version").get().user_version;
console.log(require("node:fs").existsSync(file) ? read() : 0);`;

export function previousName(container: string): string {
  return `${container}-former`;
}

export interface ContainerPair {
  current: InspectedContainer | undefined;
  previous: InspectedContainer | undefined;
}

/** Inspects the containers of the current and previous versions. A missing container is `undefined`. */
export async function inspectPair(containers: Containers, name: string): Promise<ContainerPair> {
  const [current, previous] = await Promise.all([
    containers.inspect(name),
    containers.inspect(previousName(name)),
  ]);
  return { current, previous };
}

/**
 * Backs up the running version and makes a stopped copy of its container for a rollback. If the previous version is
 * still running after a failed update, makes the backup but no copy.
 *
 * @returns a report for the operator.
 * @throws StewardError `backup_failed`; nothing has changed.
 */
export async function keepPrevious(containers: Containers, name: string): Promise<string> {
  const previous = previousName(name);
  const pair = await inspectPair(containers, name);
  if (pair.previous && (await resumeAndCheckReady(containers, previous, pair.previous))) {
    return keptLine(previous, await backUp(containers, previous));
  }
  if (pair.current && (await resumeAndCheckReady(containers, name, pair.current))) {
    const backup = await backUp(containers, name);
    await removePrevious(containers, name);
    await containers.copy(pair.current, previous);
    return keptLine(previous, backup);
  }
  // `exited` means that the container was stopped and did not crash. A rollback can start its copy.
  if (pair.current?.State.Status === "exited" && pair.previous === undefined) {
    await containers.copy(pair.current, previous);
    return `${previous} is kept until the new version is ready. It was stopped, so there is no new backup.`;
  }
  return "No version is running, so there is none to roll back to.";
}

function keptLine(previous: string, backup: string): string {
  return `${previous} is kept until the new version is ready. Its data is in the backup ${backup}.`;
}

/** Resumes a paused container, which can neither respond nor be backed up. Returns true if it is ready. */
async function resumeAndCheckReady(
  containers: Containers,
  name: string,
  { State }: InspectedContainer,
): Promise<boolean> {
  if (State.Paused) await succeed(containers, ["unpause", name]);
  return isReady(containers, name);
}

/**
 * Frees the service's name after an interrupted update: renames the container to the previous version's name, or
 * removes it if that name is taken.
 */
export async function freeName(containers: Containers, name: string): Promise<void> {
  const { current, previous } = await inspectPair(containers, name);
  if (current === undefined) return;
  const words = previous === undefined ? ["rename", name, previousName(name)] : ["rm", "--force", name];
  await succeed(containers, words);
}

/**
 * Starts the new version's container after backing up (if ready) and stopping the previous version's. If the new
 * container is already running but not ready, only restarts it.
 *
 * @throws StewardError `container_gone` or `backup_failed`
 */
export async function replacePrevious(containers: Containers, name: string): Promise<void> {
  const previous = previousName(name);
  const pair = await inspectPair(containers, name);
  if (pair.current === undefined) {
    throw new StewardError("container_gone", `The engine has no container ${name}.`);
  }
  if (pair.current.State.Paused) await succeed(containers, ["unpause", name]);
  if (pair.current.State.Running) {
    if (!(await isReady(containers, name))) await succeed(containers, ["restart", name]);
    return;
  }
  if (pair.previous?.State.Running) {
    if (await resumeAndCheckReady(containers, previous, pair.previous)) await backUp(containers, previous);
    await containers.docker(["stop", previous]);
  }
  await succeed(containers, ["start", name]);
}

export async function removePrevious(containers: Containers, name: string): Promise<void> {
  const previous = previousName(name);
  for (let waited = 0; await containers.inspect(previous); waited += RETRY_AFTER_MS) {
    const removed = await containers.docker(["rm", "--force", previous]);
    if (removed.code === 0) continue;
    if (waited >= GONE_MS) throw new Error(tail(removed));
    await containers.wait(RETRY_AFTER_MS);
  }
}

/**
 * Restores the previous version. Also restores the newest backup if that version cannot read the data's newer schema.
 * Leaves the new version running if the previous one is gone or does not start.
 *
 * @returns a report for the operator
 */
export async function restorePrevious(containers: Containers, name: string): Promise<string> {
  const previous = previousName(name);
  const pair = await inspectPair(containers, name);
  if (pair.previous === undefined) {
    if (pair.current === undefined) return `Neither ${name} nor ${previous} exists, so nothing runs.`;
    return `There is no previous version to roll back to. ${name} was left unchanged.`;
  }
  if (pair.current?.State.Running) await containers.docker(["stop", name]);
  await containers.docker(["update", "--restart=unless-stopped", previous]);
  const started = await containers.docker(["start", previous]);
  if (started.code !== 0) {
    if (pair.current?.State.Running) await containers.docker(["start", name]);
    return `The previous version does not start (${tail(started, 1)}). ${name} was left unchanged.`;
  }
  const restored = await restoreNewerData(containers, previous);
  for (let waited = 0; !(await answers(containers, previous)); waited += RETRY_AFTER_MS) {
    if (waited >= READY_MS) return `The previous version does not respond either: docker logs ${previous}`;
    await containers.wait(RETRY_AFTER_MS);
  }
  const data = restored === undefined ? "" : `, with the data of the backup ${restored}`;
  const log = pair.current === undefined ? "" : `The new container's log: docker logs ${name}. `;
  return [
    `The previous version runs again, as the container ${previous}${data}.`,
    `${log}The next update tries again.`,
  ].join("\n");
}

/**
 * Restores the newest backup if the data's schema is too new for the container. Returns the backup's id, or
 * `undefined` if nothing was restored.
 */
async function restoreNewerData(containers: Containers, container: string): Promise<string | undefined> {
  const found = await containers.inspect(container);
  const reads = Number(found?.Config.Labels?.[SCHEMA_LABEL] ?? Infinity);
  const schema = await readSchema(containers, container);
  if (schema === undefined || schema <= reads) return undefined;
  const { stdout } = await succeed(containers, ["exec", container, "steward", "backup", "list", "--json"]);
  const { backups } = JSON.parse(stdout) as { backups: { id: string }[] };
  const [newest] = backups;
  if (newest === undefined) return undefined;
  await succeed(containers, ["exec", container, "steward", "backup", "restore", newest.id, "--yes"]);
  await succeed(containers, ["restart", container]);
  return newest.id;
}

/**
 * Returns the data's schema version. Retries, because the database may be locked or the container restarting. Returns
 * `undefined` if the container becomes ready first, or after {@link READY_MS}.
 */
async function readSchema(containers: Containers, container: string): Promise<number | undefined> {
  for (let waited = 0; waited < READY_MS; waited += RETRY_AFTER_MS) {
    const asked = await containers.docker(["exec", container, "node", "-e", READ_SCHEMA]);
    if (asked.code === 0) return Number(asked.stdout);
    if (await answers(containers, container)) return undefined;
    await containers.wait(RETRY_AFTER_MS);
  }
  return undefined;
}

/**
 * Makes a backup in a running container and returns its id. Waits while another backup is in progress.
 *
 * @throws StewardError `backup_failed`
 */
export async function backUp(containers: Containers, container: string): Promise<string> {
  const create = () => containers.docker(["exec", container, "steward", "backup", "create", "--json"]);
  let made = await create();
  for (let waited = 0; isBusy(made) && waited < BACKUP_MS; waited += RETRY_AFTER_MS) {
    await containers.wait(RETRY_AFTER_MS);
    made = await create();
  }
  if (made.code === 0) return (JSON.parse(made.stdout) as { id: string }).id;
  throw new StewardError(
    "backup_failed",
    `${container} could not be backed up, so the update did not start: ${tail(made)}\nWithout a backup: docker stop ${container}, then deploy again.`,
  );
}

function isBusy({ stdout }: Finished): boolean {
  const answer = parseJson(stdout) as { error?: { code?: ErrorCode } } | undefined;
  return answer?.error?.code === "commands_busy";
}

export async function isReady(containers: Containers, container: string): Promise<boolean> {
  for (let attempt = 1; attempt < READY_ATTEMPTS; attempt += 1) {
    if (await answers(containers, container)) return true;
    await containers.wait(RETRY_AFTER_MS);
  }
  return answers(containers, container);
}

/** Works like {@link isReady}, but checks only once. */
export async function answers(containers: Containers, container: string): Promise<boolean> {
  return (await containers.docker(["exec", container, "steward", "health"])).code === 0;
}

async function succeed(containers: Containers, words: readonly string[]) {
  const finished = await containers.docker(words);
  if (finished.code === 0) return finished;
  throw new Error(`docker ${words.slice(0, 2).join(" ")} failed: ${tail(finished)}`);
}
