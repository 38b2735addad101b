import { setTimeout as sleep } from "node:timers/promises";
import path from "node:path";
import type { DiskStore } from "../../backups/stores/disk.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { RESTORE_MARKER } from "../../contract/names.ts";
import type { TenantId } from "../../contract/tenant.ts";
import type { Clock } from "../../edge/ports.ts";
import { exists } from "../../process/files.ts";
import type { Log } from "../../shared/log.ts";
import { startAfterRestore } from "../../supervisor/begin.ts";
import type { Supervisor } from "../../supervisor/supervisor.ts";
import { ChatBackupDirectory } from "./chat-backup-directory.ts";

const AGAIN_MS = 30_000;
const MERGING = reason("gateway_not_ready", "The data of chats that had their own gateways is being merged.");

interface ReturnOptions {
  supervisor: Supervisor;
  /** The data directory. */
  home: string;
  clock: Clock;
  log: Log;
}

/**
 * Merges the data of chats that had their own gateways, then starts the single gateway that serves all chats. If the
 * merge is interrupted, the next start completes it.
 *
 * Does not start the gateway (`chats_not_copied`) if a chat's last messages might not have been backed up. Messages
 * without a backup exist only in the chat's folder, which this process cannot read. To give them up, an operator
 * removes the file `changed` from the chat's backups.
 */
export async function startWithChatData(options: ReturnOptions): Promise<void> {
  const { supervisor, home, clock, log } = options;
  const backupDirectory = new ChatBackupDirectory(home);
  const isEmpty = backupDirectory.tenants().length === 0;
  await startAfterRestore({ supervisor, home, awaitsData: !isEmpty, log });
  // The next start first completes an unfinished restore.
  if (isEmpty || exists(path.join(home, RESTORE_MARKER))) return;
  await supervisor.hold(MERGING);
  for (;;) {
    try {
      await mergeTenants(options, backupDirectory);
      backupDirectory.servesAll(new Date(clock()).toISOString());
      const changed = backupDirectory.changed().join(", ");
      if (changed === "") return supervisor.release();
      const why = reason("chats_not_copied", `Not copied: ${changed}.`);
      log.error("the gateway is not started, because data of some chats is missing", { ...why });
      return await supervisor.hold(why);
    } catch (error) {
      log.error("the chats' data could not be merged", { error: String(error) });
      await supervisor.hold(reasonOf(error));
      await sleep(AGAIN_MS);
    }
  }
}

async function mergeTenants(
  { supervisor, log }: ReturnOptions,
  backupDirectory: ChatBackupDirectory,
): Promise<void> {
  const deployment = await supervisor.backups();
  const { broughtBack } = await deployment.chats();
  await deployment.runExclusively(async () => {
    for (const tenant of backupDirectory.tenants())
      await merge(await supervisor.backups(backupDirectory.of(tenant)), tenant, {
        done: broughtBack[tenant] ?? "",
        log,
      });
  });
  const { approvals } = backupDirectory;
  if (approvals !== undefined) await deployment.replaceApprovals(approvals);
}

/** Merges a chat's newest intact backup into the shared data, unless already merged. */
async function merge(
  store: DiskStore,
  tenant: TenantId,
  { done, log }: { done: string; log: Log },
): Promise<void> {
  for (const manifest of await store.list()) {
    if (manifest.id <= done) return;
    try {
      await store.mergeTenant(tenant, await store.read(manifest));
      return;
    } catch (error) {
      if (!(error instanceof StewardError) || error.code !== "backup_corrupt") throw error;
      log.error("a backup of a chat is damaged", { tenant, id: manifest.id, error: error.message });
    }
  }
}

function reasonOf(error: unknown): Reason {
  return error instanceof StewardError ? error.reason : reason("restore_failed", String(error));
}
