import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { fixOf, type Reason } from "../../../runtime/contract/errors.ts";
import {
  AGENT,
  CONTAINER_USER,
  DATA_DIRECTORY,
  OLDEST_STATE_SCHEMA,
  STATE_FILE,
  STATE_SCHEMA,
} from "../../../runtime/contract/names.ts";
import { SCHEMA_LABEL } from "../../bundle/arguments.ts";
import { type HostFacts, type HostPlan, problemOf } from "./engine.ts";

/** Byte offset of user_version in a SQLite file: https://sqlite.org/fileformat.html#the_database_header */
const USER_VERSION_AT = 60;
const OWNER_MAY = 0o700;
const GROUP_MAY = 0o070;
const OTHERS_MAY = 0o007;

/**
 * Reports data that the container cannot write, that the new version cannot read, or that is not in the configured
 * place.
 */
export async function dataProblems(plan: HostPlan, host: HostFacts): Promise<Reason[]> {
  return [
    ...(await rightsProblems(plan, host)),
    ...(await unreadableData(plan, host)),
    ...(await leftBehind(plan, host)),
  ];
}

async function rightsProblems({ directory }: HostPlan, host: HostFacts): Promise<Reason[]> {
  if (!host.local) return [];
  if (directory !== undefined) return directoryProblems(directory, host);
  // An empty volume needs no check, because Docker gives it the image's permissions.
  const { volumeDirectory } = host;
  const empty = volumeDirectory === undefined || (await isEmpty(volumeDirectory));
  return empty ? [] : directoryProblems(volumeDirectory, host);
}

async function directoryProblems(directory: string, { mapsUsers }: HostFacts): Promise<Reason[]> {
  const owner = `${CONTAINER_USER}:${CONTAINER_USER}`;
  const fix = `sudo install -d -m 700 -o ${CONTAINER_USER} -g ${CONTAINER_USER} ${directory}`;
  const found = await stat(directory).catch((error: unknown) => error);
  if (isError(found, "ENOENT")) return [unwritable(`${directory} does not exist.`, fix)];
  // Skip a directory that this user may not inspect. The service checks it at startup.
  if (found instanceof Error) return [];
  const { uid, gid, mode, isDirectory } = found as Awaited<ReturnType<typeof stat>>;
  if (!isDirectory.call(found)) return [unwritable(`${directory} is not a directory.`, fix)];
  const needed = uid === CONTAINER_USER ? OWNER_MAY : gid === CONTAINER_USER ? GROUP_MAY : OTHERS_MAY;
  if (mapsUsers || (Number(mode) & needed) === needed) return [];
  const rights = (Number(mode) & 0o777).toString(8);
  const detail = `${directory} belongs to ${uid}:${gid} with rights ${rights}; the container writes as ${owner}.`;
  return [unwritable(detail, `sudo chown -R ${owner} ${directory} && sudo chmod 700 ${directory}`)];
}

function unwritable(detail: string, fix: string): Reason {
  return problemOf("data_directory_unwritable", detail, `${fix}.`);
}

/**
 * Returns a reason to refuse the deployment if the new image cannot read the existing data. Otherwise returns an
 * empty list.
 */
async function unreadableData({ directory }: HostPlan, host: HostFacts): Promise<Reason[]> {
  const { schema } = host;
  if (schema === undefined) return [];
  const labels = host.container?.labels ?? {};
  const place = directory ?? host.volumeDirectory;
  // While the service runs, the database file may lag behind its write-ahead log.
  const readable = host.local && host.container?.running !== true && place !== undefined;
  const written = readable ? await writtenSchema(path.join(place, STATE_FILE)) : 0;
  const found = Math.max(written, Number(labels[SCHEMA_LABEL] ?? 0));
  // OLDEST_STATE_SCHEMA applies only to images with this version's schema.
  if (schema === STATE_SCHEMA && found > 0 && found < OLDEST_STATE_SCHEMA) {
    const detail = `The data has schema ${found}, and the image to deploy reads ${OLDEST_STATE_SCHEMA} and later.`;
    return [problemOf("data_older", detail, fixOf("data_older"))];
  }
  if (found <= schema) return [];
  const revision = labels["org.opencontainers.image.revision"];
  const again = revision === undefined ? "the version that wrote it" : `${AGENT}:${revision}`;
  return [
    problemOf(
      "data_newer",
      `The data has schema ${found}, and the image to deploy reads up to ${schema}.`,
      `Deploy ${again} again (steward:image), or restore a backup from before the upgrade: docs/upgrades.md.`,
    ),
  ];
}

async function writtenSchema(file: string): Promise<number> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, USER_VERSION_AT);
      return bytesRead === 4 ? buffer.readUInt32BE() : 0;
    } finally {
      await handle.close();
    }
  } catch {
    // Ignore a missing or unreadable database file here: with 0, the preflight check finds no problem. The gateway
    // reports an unreadable file at startup.
    return 0;
  }
}

/**
 * Reports data that is not in the configured place. The new container would start without it, and Pulumi may delete a
 * volume that contains it.
 */
async function leftBehind({ directory, names }: HostPlan, host: HostFacts): Promise<Reason[]> {
  const data = host.container?.data;
  if (data === undefined || !host.local) return [];
  const now = data.Type === "volume" ? (data.Name ?? "") : data.Source;
  const next = directory ?? names.volume;
  if (now === next) return [];
  const place = directory ?? host.volumeDirectory;
  if (place !== undefined && !(await isEmpty(place))) return [];
  const mounts = `-v ${now}:/from:ro -v ${next}:${DATA_DIRECTORY}`;
  const copy = `docker stop ${names.container}; docker run --rm --user 0 --entrypoint cp ${mounts} <its image> -a /from/. ${DATA_DIRECTORY}/`;
  return [
    problemOf(
      "data_left_behind",
      `The data is in ${now}, but the deployment would start with ${next}, which is empty.`,
      `Copy it first (${copy}), or restore the previous value of steward:hostDataDirectory.`,
    ),
  ];
}

async function isEmpty(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    // If this user may not read the directory, assume it is not empty.
    return isError(error, "ENOENT");
  }
}

function isError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
