import { existsSync } from "node:fs";
import { fixOf, type Reason } from "../../../runtime/contract/errors.ts";
import { CHAT_USERS, CONTAINER_USER } from "../../../runtime/contract/names.ts";
import { runProcess, tail } from "../../shell/process.ts";
import { capability } from "../shape.ts";
import { type HostFacts, type HostPlan, problemOf } from "./engine.ts";

/** Memory in MiB of the main process with the deployment's gateway, and of each chat's. Measured with a few messages each. */
const MEMORY = { rest: 112, chat: 44 };
/** Image with Node that an engine has after its first build. */
const BASE_IMAGE = "steward-base";
/** Places inside the trial: one in memory, and the directory of the host that is to hold the data. */
const PLACES = { memory: "/trial", data: "/data" };

/** Gives a folder and a process to the first and to the last user, as the service does. */
const program = (chats: number, places: readonly string[]): string => `
const { spawnSync } = require("node:child_process");
const { fchownSync, fstatSync, mkdtempSync, openSync, rmdirSync } = require("node:fs");
for (const place of ${JSON.stringify(places)})
  for (const id of [${CHAT_USERS.first}, ${CHAT_USERS.first + chats - 1}]) {
    process.seteuid(${CONTAINER_USER});
    const folder = mkdtempSync(place + "/.trial-");
    const opened = openSync(folder);
    process.seteuid(0);
    fchownSync(opened, id, id);
    const { uid } = fstatSync(opened);
    process.seteuid(place === "${PLACES.data}" ? ${CONTAINER_USER} : id);
    rmdirSync(folder);
    process.seteuid(0);
    if (uid !== id) throw new Error("no folder can be given to user " + id);
    const { error, status } = spawnSync("/bin/sh", ["-c", ":"], { uid: id, gid: id });
    if (error || status) throw error || new Error("no process can be given to user " + id);
  }`;

const WORDS = [
  "run",
  "--rm",
  "--network=none",
  "--read-only",
  "--user=0:0",
  `--tmpfs=${PLACES.memory}:mode=1777`,
  "--security-opt=no-new-privileges",
  "--cap-drop=ALL",
  ...CHAT_USERS.rights.map((right) => `--cap-add=${capability(right)}`),
  "--entrypoint=node",
];

/** Returns about how much memory, in MiB, a service takes while so many chats' gateways run. */
export function memoryForChats(chats: number): number {
  return MEMORY.rest + chats * MEMORY.chat;
}

/**
 * Reports an engine on which chats cannot have users of their own. It is tried with an image that the engine has; without
 * one, the service finds out and does not start.
 */
export async function chatProblems(plan: HostPlan, { container, local }: HostFacts): Promise<Reason[]> {
  const { chats, directory, environment: env } = plan;
  if (chats === undefined) return [];
  const image = container?.image ?? (await baseImage(env));
  if (image === undefined) return [];
  // A missing directory is another problem's.
  const isBound = directory !== undefined && local && existsSync(directory);
  const bound = isBound ? [`--volume=${directory}:${PLACES.data}`] : [];
  const places = [PLACES.memory, ...(isBound ? [PLACES.data] : [])];
  const words = [...WORDS, ...bound, image, "-e", program(chats, places)];
  const tried = await runProcess("docker", words, { env });
  if (tried.code === 0) return [];
  const why = /\b\w*Error: .*/.exec(tried.stderr)?.[0] ?? tail(tried, 1);
  const detail = `The engine cannot give each chat a user of its own: ${why}`;
  return [problemOf("tenancy_unsupported", detail, fixOf("tenancy_unsupported"))];
}

async function baseImage(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { stdout } = await runProcess("docker", ["images", "--quiet", BASE_IMAGE], { env });
  return stdout.split("\n").find(Boolean);
}
