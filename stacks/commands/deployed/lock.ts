import { readdir, readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import * as z from "zod";
import { runProcess } from "../../../infra/shell/process.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { hasEnded } from "../../../runtime/process/ended.ts";
import { parseJson } from "../../../runtime/shared/json.ts";
import { ANSWER_MS } from "./cli.ts";

/** Content of the lock file that Pulumi writes for a backend in a local folder (pulumi pkg/backend/diy/lock.go). */
const lockFile = z.object({
  pid: z.number(),
  username: z.string(),
  hostname: z.string(),
  timestamp: z.string(),
});
const whoAmI = z.looseObject({ url: z.string() });
const listed = z.array(z.looseObject({ name: z.string(), updateInProgress: z.boolean().optional() }));

interface Lock {
  holder: string;
  /** True if the process ran on this machine and has ended, so nothing will release the lock. */
  isStale: boolean;
}

/**
 * Checks that no update of the stack is running, if the backend is a folder or Pulumi Cloud. With a bucket, the
 * update itself checks the lock. `releaseStale` releases the lock of a killed process on this machine.
 *
 * @throws StewardError `rollout_under_way`
 */
export async function requireUnlocked(
  stack: Stack,
  { releaseStale }: { releaseStale: boolean },
): Promise<void> {
  const lock = await lockOf(stack);
  if (lock === undefined) return;
  if (lock.isStale && releaseStale) return void (await stack.cancel());
  throw new StewardError("rollout_under_way", lock.holder, {
    fix: ({ pulumi }) =>
      lock.isStale
        ? `Release its lock: \`${pulumi("cancel")}\`.`
        : `Wait until it ends. If it was killed, release its lock: \`${pulumi("cancel")}\`.`,
  });
}

async function lockOf(stack: Stack): Promise<Lock | undefined> {
  const { workspace, name } = stack;
  const env = { ...process.env, ...workspace.envVars };
  const asked = async <Answer>(
    schema: z.ZodType<Answer>,
    ...words: string[]
  ): Promise<Answer | undefined> => {
    const { stdout } = await runProcess("pulumi", words, {
      env,
      cwd: workspace.workDir,
      timeoutMs: ANSWER_MS,
    });
    return schema.safeParse(parseJson(stdout)).data;
  };
  const { url = "" } = (await asked(whoAmI, "whoami", "--json")) ?? {};
  if (url.startsWith("file://")) {
    const { name: project } = await workspace.projectSettings();
    return lockIn(path.join(folderOf(url), ".pulumi", "locks", "organization", project, name));
  }
  if (!url.startsWith("http")) return undefined;
  const stacks = (await asked(listed, "stack", "ls", "--json")) ?? [];
  const isUpdated = stacks.some(
    (one) => one.name.split("/").at(-1) === name.split("/").at(-1) && one.updateInProgress,
  );
  return isUpdated
    ? { holder: "Pulumi Cloud is running an update of this stack.", isStale: false }
    : undefined;
}

async function lockIn(folder: string): Promise<Lock | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    const text = await readFile(path.join(folder, name), "utf8").catch(() => "");
    const held = lockFile.safeParse(parseJson(text)).data;
    if (held === undefined) continue;
    const { pid, username, hostname: machine, timestamp } = held;
    const isHere = machine === hostname();
    const isStale = isHere && hasEnded(pid);
    const where = isHere ? "on this machine" : `on ${machine}`;
    const end = isStale ? ", which has ended without releasing it" : "";
    return {
      holder: `The stack has been locked since ${timestamp} by process ${pid} of ${username} ${where}${end}.`,
      isStale,
    };
  }
  return undefined;
}

/**
 * Returns the folder of a `file://` URL. Expands a leading `~`, because the CLI also writes URLs relative to the home
 * folder, such as `file://~/state`.
 */
function folderOf(url: string): string {
  const [address = ""] = url.split("?");
  const given = address.slice("file://".length);
  if (given.startsWith("~")) return path.join(homedir(), given.slice(1));
  return given.startsWith("/") ? fileURLToPath(address) : path.resolve(given);
}
