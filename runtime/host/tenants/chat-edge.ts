import { BackupRecord } from "../../backups/record.ts";
import { BackupService } from "../../backups/service.ts";
import type { Archive, WriteOptions } from "../../backups/store.ts";
import type { GenerationManifest, RestoreReport } from "../../contract/backup.ts";
import type { TenantId } from "../../contract/tenant.ts";
import type { EdgeOptions } from "../../edge/app.ts";
import type { Backups, Clock } from "../../edge/ports.ts";
import type { Log } from "../../shared/log.ts";
import type { ChatData } from "./chat-data.ts";
import type { TenantGateway } from "./gateway.ts";

export function edgeOfChat(
  tenant: TenantId,
  deployment: EdgeOptions,
  own: Pick<EdgeOptions, "ledger" | "sandbox" | "backups">,
): EdgeOptions {
  const { activity, answers } = deployment;
  return {
    ...deployment,
    ...own,
    tenant,
    activity: {
      ...activity,
      record: (entry) => activity.record({ ...entry, detail: `${entry.detail} ${tenant}`.trim() }),
    },
    answers: {
      keepAnswer: (question, text) => answers.keepAnswer(`${tenant} ${question}`, text),
      lastAnswer: (question) => answers.lastAnswer(`${tenant} ${question}`),
    },
  };
}

type Restorable = Pick<TenantGateway, "isRunning" | "stop" | "start">;

interface ChatBackupsOptions {
  tenant: TenantId;
  gateway(): Restorable;
  data: ChatData;
  clock: Clock;
  log: Log;
}

/**
 * Returns the backups of one chat. A restore leaves the config unchanged, because the config belongs to the
 * deployment.
 */
export function chatBackups({ tenant, gateway, data, clock, log }: ChatBackupsOptions): Backups {
  return new BackupService<Archive["content"]>({
    open: async () => {
      const disk = await data.store(tenant);
      const store = {
        list: () => disk.list(),
        find: (id: string) => disk.find(id),
        read: (manifest: GenerationManifest) => disk.read(manifest),
        newest: () => disk.newest(),
        prune: () => disk.prune(),
        write: (options: WriteOptions) => data.copy(tenant, () => gateway().isRunning, options),
        restore: async (id: string): Promise<RestoreReport> => {
          const report = await disk.verifyArchive(await disk.read({ id }));
          const ran = gateway().isRunning;
          await data.restore(tenant, id, () => gateway().stop());
          if (ran) gateway().start();
          return report;
        },
      };
      return { store, state: disk };
    },
    record: new BackupRecord(),
    everyMs: Number.POSITIVE_INFINITY,
    restoredAt: () => undefined,
    failed: (what, why) => {
      log.error(`${what} of a chat failed`, { tenant, ...why });
      return true;
    },
    recovery: { run: () => undefined, keep() {}, read: () => undefined },
    clock,
    log,
  });
}
