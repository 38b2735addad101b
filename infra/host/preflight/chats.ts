import { existsSync } from "node:fs";
import { fixOf, type Reason } from "../../../runtime/contract/errors.ts";
import { CHAT_USERS, CONTAINER_USER } from "../../../runtime/contract/names.ts";
import { runProcess, tail } from "../../shell/process.ts";
import { capability } from "../shape.ts";
import { type HostFacts, type HostPlan, problemOf } from "./engine.ts";

/**
 * Memory use in MiB after a few messages. `rest`: the main process and the deployment's gateway. `chat`: each chat's
 * gateway.
 */
const MEMORY = { rest: 112, chat: 44 };
/** Base image with Node.js. Every build of steward leaves it in the engine. */
const BASE_IMAGE = "steward-base";
/** Mount points in the trial container: a tmpfs, and the host's data directory. */
const PLACES = { memory: "/trial", data: "/data" };

/**
 * Returns a script that tests whether chats can run as separate users. It creates a directory and starts a process
 * for the first and the last user.
 */
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

/** Returns the estimated memory in MiB of a service with this many chat gateways. */
export function memoryForChats(chats: number): number {
  return MEMORY.rest + chats * MEMORY.chat;
}

/**
 * Reports an engine that cannot run chats as separate users. Skips the test if the engine has no image to test with.
 */
export async function chatProblems(plan: HostPlan, { container, local }: HostFacts): Promise<Reason[]> {
  const { chats, directory, environment: env } = plan;
  if (chats === undefined) return [];
  const image = container?.image ?? (await baseImage(env));
  if (image === undefined) return [];
  // Another check reports a missing directory.
  const isBound = directory !== undefined && local && existsSync(directory);
  const bound = isBound ? [`--volume=${directory}:${PLACES.data}`] : [];
  const places = [PLACES.memory, ...(isBound ? [PLACES.data] : [])];
  const words = [...WORDS, ...bound, image, "-e", program(chats, places)];
  const tried = await runProcess("docker", words, { env });
  if (tried.code === 0) return [];
  const why = /\b\w*Error: .*/.exec(tried.stderr)?.[0] ?? tail(tried, 1);
  const detail = `The engine cannot run each chat as a separate user: ${why}`;
  return [problemOf("tenancy_unsupported", detail, fixOf("tenancy_unsupported"))];
}

async function baseImage(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { stdout } = await runProcess("docker", ["images", "--quiet", BASE_IMAGE], { env });
  return stdout.split("\n").find(Boolean);
}
