import type { BackupCause, GenerationManifest } from "../contract/backup.ts";
import { reason, StewardError, type ErrorCode, type Reason } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { expired, lateness, shrank } from "../edge/backups.ts";
import type { Backups } from "../edge/ports.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { Timers } from "../supervisor/timers.ts";
import { recoveredConfig } from "./config-recovery.ts";

/** A start that goes wrong is looked at first, and what was restored is not copied at once. */
const FIRST_MS = 10 * 60_000;
const EVERY_MS = 3_600_000;

/** Codes that say nothing about how the backups stand. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["commands_busy", "backup_unknown"]);

/** Dependencies of a host's backups. */
export interface HostBackupsOptions {
  supervisor: Pick<Supervisor, "backups">;
  /** The data directory. */
  home: string;
  timers: Timers;
  log: Log;
}

/** Backups that are also made automatically. */
export interface RunningBackups extends Backups {
  /** Makes the first one in ten minutes, then every hour in which something has changed. */
  start(): void;
  /** Stops automatic backups. One in progress may be cut off: its remains are tidied away. */
  stop(): void;
}

/** A host's backups, in the `backups/` of its data directory. */
export function hostBackups({ supervisor, home, timers, log }: HostBackupsOptions): RunningBackups {
  /** State at the last copy of this process. */
  let copied: string | undefined;
  let problem: Reason | undefined;
  /** Time at which a copy was last made, or the newest one was found to hold everything. */
  let provenAt = timers.now();
  let cancel: (() => void) | undefined;

  /** Runs what makes or restores one, and keeps how it went. */
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      problem = undefined;
      provenAt = timers.now();
      return result;
    } catch (error) {
      const told = error instanceof StewardError ? error.reason : reason("backup_failed", String(error));
      if (PASSING.has(told.code)) throw error;
      // It may last for days: logged when it starts, and when its cause changes.
      if (told.code !== problem?.code) log.error(`${what} failed`, { ...told });
      problem = told;
      throw error;
    }
  };

  const prune = async (): Promise<void> => {
    const backups = await supervisor.backups();
    for (const id of expired(await backups.list(), timers.now())) await backups.remove(id);
  };

  const make = (force: boolean, cause?: BackupCause): Promise<GenerationManifest> =>
    attempt("a backup", async () => {
      const backups = await supervisor.backups();
      // Before the copy: what is written meanwhile may not be in it.
      const revision = await backups.revision();
      const [before] = await backups.list();
      const accept = (now: GenerationManifest): void => {
        const loss = before && shrank(before.counts, now.counts);
        if (loss !== undefined && !force) {
          throw new StewardError("backup_refused", `Against the backup ${before?.id}: ${loss}.`);
        }
      };
      const manifest = await backups.make({ accept, cause });
      copied = revision;
      await prune();
      return manifest;
    });

  const look = async (): Promise<void> => {
    try {
      await attempt("a backup", async () => {
        const backups = await supervisor.backups();
        if ((await backups.revision()) !== copied) await make(false);
      });
    } catch (error) {
      log.debug("no backup this time", { error: String(error) });
    }
  };
  const plan = (ms: number): void => {
    cancel = timers.after(ms, () => {
      void look().finally(() => cancel && plan(EVERY_MS));
    });
  };

  return {
    start: () => plan(FIRST_MS),
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
    status: async () => {
      const [newest] = await (await supervisor.backups()).list();
      const recovered = recoveredConfig(home);
      const wrong = problem ?? lateness(provenAt, timers.now(), EVERY_MS);
      return {
        ...(newest && { lastAt: newest.createdAt }),
        ...(wrong && { problem: wrong }),
        ...(recovered && { recovered }),
      };
    },
    list: async () => (await supervisor.backups()).list(),
    create: ({ force = false, cause } = {}) => make(force, cause),
    verify: async (id) => (await supervisor.backups()).verify(id),
    // A host's container does not sleep.
    cachedConfig: async () => undefined,
    configOf: async (id) => {
      const backups = await supervisor.backups();
      return backups.showConfig(await backups.open(id));
    },
    restore: (id, config) =>
      attempt("a restore", async () => {
        const report = await (await supervisor.backups()).restore(id, config);
        await prune();
        return report;
      }),
  };
}
