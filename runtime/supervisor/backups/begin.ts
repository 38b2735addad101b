import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { reason, StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { RESTORE_MARKER } from "../../contract/names.ts";
import type { Supervisor } from "../supervisor.ts";

/** What a supervisor begins with. */
export interface BeginOptions {
  supervisor: Supervisor;
  /** The data directory. */
  home: string;
  /** The data comes by `/restore` first. */
  awaitsData: boolean;
  log: Log;
}

const AWAITING = reason("gateway_not_ready", "It waits for its data, which the first restore brings.");
const FINISHING = reason("gateway_not_ready", "A restore that was interrupted is being finished.");

/** Starts the gateway, after what a restore before this start has left to do. */
export async function begin({ supervisor, home, awaitsData, log }: BeginOptions): Promise<void> {
  const marked = existsSync(join(home, RESTORE_MARKER));
  if (marked || awaitsData) await supervisor.hold(marked ? FINISHING : AWAITING);
  else supervisor.start();
  // What makes and restores copies is not loaded where nothing was left.
  if (!marked && !hasScratch(home)) return;
  try {
    await (await supervisor.backups()).finishMarked();
  } catch (error) {
    log.error("an interrupted restore could not be finished", { error: String(error) });
    if (error instanceof StewardError && error.code === "restore_failed") {
      return void (await supervisor.hold(error.reason));
    }
  }
  if (!marked) return;
  if (awaitsData) await supervisor.hold(AWAITING);
  else supervisor.release();
}

function hasScratch(home: string): boolean {
  return existsSync(home) && readdirSync(home).some((name) => name.startsWith(".restore-"));
}
