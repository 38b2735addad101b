import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { generationId } from "../contract/backup.ts";
import type { Reason } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { CONFIG_FILE } from "../contract/names.ts";
import { lastGood } from "../edge/backups.ts";
import type { Clock, RecoveredConfig } from "../edge/ports.ts";
import { ensureDirectory, writeFileAtomic } from "../process/files.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

const noteSchema = z.strictObject({ id: generationId, at: z.iso.datetime(), sha256: z.nullable(z.string()) });

/** Dependencies of a recovery. */
export interface ConfigRecoveryOptions {
  supervisor: Supervisor;
  /** The data directory. */
  home: string;
  clock: Clock;
  log: Log;
}

/** Gives a gateway that its config has stopped the last good one, once until it has been ready again. */
export function recoverConfigs(options: ConfigRecoveryOptions): void {
  const { supervisor, log } = options;
  let tried = false;
  supervisor.onChange(({ state, reason }) => {
    if (state === "ready") tried = false;
    if (tried || state !== "crash-looping" || reason?.code !== "config_invalid") return;
    tried = true;
    recover(options, reason).catch((error: unknown) => {
      log.error("no config could be recovered", {
        error: error instanceof Error ? error.message : String(error),
      });
    });
  });
}

/** The recovery whose config is still the one that is there. */
export function recoveredConfig(home: string): RecoveredConfig | undefined {
  try {
    const { sha256, ...recovered } = noteSchema.parse(JSON.parse(readFileSync(notePath(home), "utf8")));
    const present = createHash("sha256")
      .update(readFileSync(join(home, CONFIG_FILE)))
      .digest("hex");
    return present === sha256 ? recovered : undefined;
  } catch {
    // There was none, or there is no config any more.
    return undefined;
  }
}

async function recover({ supervisor, home, clock, log }: ConfigRecoveryOptions, why: Reason): Promise<void> {
  const backups = await supervisor.backups();
  const { id } = lastGood(await backups.list());
  const { sha256 } = await backups.takeConfig(await backups.open(id));
  log.warn("the config was not valid: that of the last good backup was taken", { id, problem: why.detail });
  supervisor.start();
  ensureDirectory(join(home, "logs"));
  writeFileAtomic(notePath(home), JSON.stringify({ id, at: new Date(clock()).toISOString(), sha256 }));
}

function notePath(home: string): string {
  return join(home, "logs", "config-recovered.json");
}
