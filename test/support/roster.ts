import { reason } from "../../runtime/contract/errors.ts";
import { type TenantId, tenantOf } from "../../runtime/contract/tenant.ts";
import type { TenantReport } from "../../runtime/edge/tenants/ports.ts";
import type { TenantRoster } from "../../runtime/edge/tenants/roster.ts";

export const COUNTS = { waiting: 0, delivering: 0, answered: 40, ignored: 3, failed: 0 };
const MAX_RUNNING = 500;
const STARTED = Date.parse("2026-11-28T09:00:00Z");

/** Adds tenants. One in a hundred has a problem, and up to 500 others run. */
export function fillRoster(roster: TenantRoster, count: number) {
  const report = {
    running: false,
    version: "0.1.0",
    counts: COUNTS,
    usedAt: new Date(STARTED).toISOString(),
  };
  const ids: TenantId[] = [];
  const failing = new Set<TenantId>();
  const running: TenantId[] = [];
  for (let index = 0; index < count; index += 1) {
    // Shuffles the ids.
    const id = tenantOf({ platform: "slack", chat: `C0${(index * 7_919) % count}` });
    const isFailing = index % 100 === 99;
    const isRunning = running.length < MAX_RUNNING && !isFailing;
    const given: TenantReport = {
      ...report,
      running: isRunning,
      usedAt: new Date(STARTED + index).toISOString(),
      ...(isFailing && { problem: reason("crash_looping") }),
    };
    ids.push(id);
    if (isFailing) failing.add(id);
    if (isRunning) running.push(id);
    roster.meet(id);
    roster.report(id, given);
  }
  return { ids, failing, running, report: report satisfies TenantReport as TenantReport };
}
