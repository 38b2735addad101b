import { setTimeout as sleep } from "node:timers/promises";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import type { Renewal } from "../../../runtime/contract/tenant.ts";

const LOOK_EVERY_MS = 5_000;
/**
 * Number of successive polls without a new or unfinished replacement that end the watch. They span ten seconds, the
 * interval at which outdated containers ask for a replacement.
 */
const QUIET_POLLS = 3;
/** Maximum time, in milliseconds, for which a rollout watches containers being replaced. */
const WATCH_MS = 180_000;

interface WatchOptions {
  renewal(): Promise<Renewal | null>;
  pause?(ms: number): Promise<unknown>;
}

/**
 * Watches how the new version reaches the chats' containers.
 *
 * @returns A sentence about the progress, if any.
 * @throws BuildFailure `rollout_chat_fails` for the first container that does not answer with the new version.
 */
export async function watchChats({ renewal, pause = sleep }: WatchOptions): Promise<string | undefined> {
  let last: Renewal = { begun: 0, answering: 0, failing: [] };
  let quiet = 0;
  for (let waited = 0; waited < WATCH_MS && quiet < QUIET_POLLS; waited += LOOK_EVERY_MS) {
    if (waited > 0) await pause(LOOK_EVERY_MS);
    // Ignore a failed request: a new deployment may fail briefly even after its first answer.
    const now = await renewal().catch(() => last);
    if (now === null) return undefined;
    const [failing] = now.failing;
    if (failing !== undefined) throw failureOf(failing);
    quiet = now.begun === last.begun && now.begun === now.answering ? quiet + 1 : 0;
    last = now;
  }
  const { begun, answering } = last;
  if (begun === 0) return undefined;
  if (begun === answering) return `The containers of ${begun} chats now run the new version.`;
  return `Containers with the new version: ${answering}; starting: ${begun - answering}. The rest follow later.`;
}

function failureOf(tenant: string): BuildFailure {
  return new BuildFailure(
    "rollout_chat_fails",
    `the container of ${tenant} is not running the new version`,
    ({ script }) =>
      `Open /_admin/chats, choose ${tenant} and read its logs. Fix the cause, then run \`${script("rollout", "--yes")}\` again.`,
  );
}
