import { readFileSync } from "node:fs";
import path from "node:path";
import { Alerts, LOOK_EVERY_MS, type AlertsOptions } from "../edge/alerts.ts";
import { writeFileAtomic } from "../process/files.ts";
import type { RunningLedger } from "./ledger.ts";

export interface HostAlertsOptions extends Pick<AlertsOptions, "settings" | "sandbox" | "backups" | "log"> {
  /** The data directory. */
  home: string;
  ledger: Pick<RunningLedger, "oldestOpen">;
}

/** Checks every minute for failures and reports them, until `stop` is called. */
export function hostAlerts({ home, ledger, ...options }: HostAlertsOptions): { stop(): void } {
  const file = path.join(home, "alerts.json");
  const alerts = new Alerts({
    ...options,
    neverSleeps: true,
    fetch: (input, init) => fetch(input, init),
    clock: Date.now,
    oldestEvent: () => ledger.oldestOpen(),
    memory: {
      read: () => {
        try {
          return readFileSync(file, "utf8");
        } catch {
          return undefined;
        }
      },
      write: (text) => writeFileAtomic(file, text),
    },
  });
  const timer = setInterval(() => void alerts.look(), LOOK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
