import { readdirSync } from "node:fs";
import { join } from "node:path";
import { reason, StewardError, type Reason } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { RESTORE_MARKER } from "../contract/names.ts";
import { exists } from "../process/files.ts";
import type { Supervisor } from "./supervisor.ts";

export interface BeginOptions {
  supervisor: Supervisor;
  home: string;
  awaitsData: boolean;
  log: Log;
}

const AWAITING = reason(
  "gateway_not_ready",
  "The gateway waits for its data, which the first restore brings.",
);
const FINISHING = reason("gateway_not_ready", "An interrupted restore is being completed.");

/** Completes an interrupted restore and then starts the gateway. */
export async function startAfterRestore({ supervisor, home, awaitsData, log }: BeginOptions): Promise<void> {
  const marker = join(home, RESTORE_MARKER);
  const marked = exists(marker);
  if (marked || awaitsData) await supervisor.hold(marked ? FINISHING : AWAITING);
  else supervisor.start();
  // Load the backup modules only if needed.
  if (!marked && !hasScratch(home)) return;
  try {
    await (await supervisor.backups()).finishMarked();
  } catch (error) {
    log.error("an interrupted restore could not be completed", { error: String(error) });
    // Hold the gateway only if the marker still exists: otherwise, the restore was cancelled.
    if (exists(marker)) return supervisor.hold(holdReason(error));
  }
  if (!marked) return;
  if (awaitsData) await supervisor.hold(AWAITING);
  else supervisor.release();
}

function holdReason(error: unknown): Reason {
  return error instanceof StewardError ? error.reason : reason("restore_failed", String(error));
}

function hasScratch(home: string): boolean {
  return exists(home) && readdirSync(home).some((name) => name.startsWith(".restore-"));
}
