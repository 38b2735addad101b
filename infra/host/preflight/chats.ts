import { fixOf, type Reason } from "../../../runtime/contract/errors.ts";
import { CHAT_USERS } from "../../../runtime/contract/names.ts";
import { run, tail } from "../../shell/process.ts";
import { capability } from "../shape.ts";
import { type Host, type HostPlan, problemOf } from "./engine.ts";

/** Memory in MiB of the main process with the deployment's gateway, and of each chat's. Measured with a few messages each. */
const MEMORY = { rest: 112, chat: 44 };

/** Gives a folder and a process to the first and to the last user, as the service does. */
const trial = (chats: number): string => `const { spawnSync } = require("node:child_process");
const { mkdirSync, chownSync, statSync } = require("node:fs");
for (const id of [${CHAT_USERS.first}, ${CHAT_USERS.first + chats - 1}]) {
  const folder = "/trial/" + id;
  mkdirSync(folder, { recursive: true });
  chownSync(folder, id, id);
  if (statSync(folder).uid !== id) throw new Error("no folder can be given to user " + id);
  const { error, status } = spawnSync("/bin/sh", ["-c", ":"], { uid: id, gid: id });
  if (error || status) throw error || new Error("no process can be given to user " + id);
}`;

/** Returns about how much memory, in MiB, a service takes while so many chats' gateways run. */
export function memoryForChats(chats: number): number {
  return MEMORY.rest + chats * MEMORY.chat;
}

/**
 * Reports an engine on which chats cannot have users of their own. It is tried with the image that runs already; a first
 * deployment has none, and its service does not start if it cannot do it.
 */
export async function chatProblems(plan: HostPlan, { container }: Host): Promise<Reason[]> {
  const { chats, environment: env } = plan;
  if (chats === undefined || container === undefined) return [];
  const tried = await run("docker", [...TRIAL, container.image, "-e", trial(chats)], { env });
  if (tried.code === 0) return [];
  const detail = `The engine cannot give each chat a user of its own: ${tail(tried, 1)}`;
  return [problemOf("tenancy_unsupported", detail, fixOf("tenancy_unsupported"))];
}

const TRIAL = [
  "run",
  "--rm",
  "--network=none",
  "--read-only",
  "--user=0:0",
  "--tmpfs=/trial",
  "--security-opt=no-new-privileges",
  "--cap-drop=ALL",
  ...CHAT_USERS.rights.map((right) => `--cap-add=${capability(right)}`),
  "--entrypoint=node",
];
