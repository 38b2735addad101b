import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { BackupRecord } from "../backups/record.ts";
import { BackupService } from "../backups/service.ts";
import type { Archive } from "../backups/store.ts";
import { generationId } from "../contract/backup.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { CONFIG_FILE } from "../contract/names.ts";
import type { Backups, RecoveredConfig } from "../edge/ports.ts";
import { ensureDirectory, writeFileAtomic } from "../process/files.ts";
import type { Log } from "../shared/log.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { Timers } from "../supervisor/timers.ts";

/**
 * Delay, in milliseconds, between a start and the first backup. Avoids backups of failed starts and of just-restored
 * states.
 */
const FIRST_MS = 10 * 60_000;
const EVERY_MS = 3_600_000;

/** Error codes that do not indicate a problem with the backups. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["commands_busy", "backup_unknown"]);

const recoverySchema = z.strictObject({
  id: generationId,
  at: z.iso.datetime(),
  sha256: z.nullable(z.string()),
});

export interface HostBackupsOptions {
  supervisor: Pick<Supervisor, "backups" | "start" | "onChange">;
  /** The data directory. */
  home: string;
  copyChats?(): Promise<void>;
  timers: Timers;
  log: Log;
}

export interface RunningBackups extends Backups {
  /** Starts automatic backups: the first after ten minutes, then hourly if something has changed. */
  start(): void;
  /** Stops automatic backups. May interrupt a backup in progress. */
  stop(): void;
  /**
   * Enables recovery: a config that prevents the gateway from starting is replaced with the last valid config. After
   * a recovery, the gateway must become ready before another recovery is possible.
   */
  recoverConfigs(): void;
}

export function hostBackups({
  supervisor,
  home,
  copyChats,
  timers,
  log,
}: HostBackupsOptions): RunningBackups {
  const record = new BackupRecord();
  let run = 0;
  let cancel: (() => void) | undefined;
  const service = new BackupService<Archive["content"]>({
    open: async () => {
      const disk = await supervisor.backups();
      return { store: disk, state: disk };
    },
    record,
    everyMs: EVERY_MS,
    restoredAt: () => 0,
    failed: (what, why) => {
      if (PASSING.has(why.code)) return false;
      // A failure may last for days: log only its start and changes of its cause.
      if (why.code !== record.facts.problem?.code) log.error(`${what} failed`, { ...why });
      return true;
    },
    recovery: {
      run: () => String(run),
      keep: (recovery) => {
        supervisor.start();
        ensureDirectory(join(home, "logs"));
        writeFileAtomic(recoveryPath(home), JSON.stringify(recovery));
      },
      read: () => recoveredConfig(home),
    },
    clock: timers.now,
    log,
  });
  const plan = (ms: number): void => {
    cancel = timers.after(ms, () => {
      const looked = service.copyChanged().catch((error: unknown) => {
        log.debug("no backup this time", { error: String(error) });
      });
      void looked.finally(() => cancel && plan(EVERY_MS));
    });
  };
  const create = service.create.bind(service);
  return Object.assign(service, {
    // Also back up the chats, because the rollback of an update needs their data.
    create: async (options?: Parameters<typeof create>[0]) => {
      await copyChats?.();
      return create(options);
    },
    start: () => plan(FIRST_MS),
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
    recoverConfigs: () => {
      supervisor.onChange(({ state, reason }) => {
        if (state === "ready") run += 1;
        if (state === "crash-looping" && reason?.code === "config_invalid")
          void service.recoverConfig(reason);
      });
    },
  });
}

function recoveredConfig(home: string): RecoveredConfig | undefined {
  try {
    const { sha256, ...recovered } = recoverySchema.parse(
      JSON.parse(readFileSync(recoveryPath(home), "utf8")),
    );
    const config = readFileSync(join(home, CONFIG_FILE));
    return createHash("sha256").update(config).digest("hex") === sha256 ? recovered : undefined;
  } catch {
    return undefined;
  }
}

function recoveryPath(home: string): string {
  return join(home, "logs", "config-recovered.json");
}
