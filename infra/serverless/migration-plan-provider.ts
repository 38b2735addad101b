import type { dynamic } from "@pulumi/pulumi";
import { plannedChanges, type PlannedMigrations, refusedChanges } from "./migration-list.ts";

/**
 * The dynamic provider of `MigrationPlan`. Pulumi serialises what is reachable from here into the stack's
 * state: functions and texts. The engine tells a provider alone what is deployed, in a preview too.
 */
export const migrationPlanProvider: dynamic.ResourceProvider<PlannedMigrations, PlannedMigrations> = {
  async check(olds, news) {
    if (olds.workerName === undefined) return { inputs: news };
    const failures = refusedChanges(olds, news).map((reason) => ({ property: "migrations", reason }));
    const lines = failures.length > 0 ? [] : plannedChanges(olds, news);
    if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
    return { inputs: news, failures };
  },

  async diff(_id, olds, news) {
    return { changes: plannedChanges(olds, news).length > 0 };
  },

  async create(inputs) {
    return { id: "migrations", outs: inputs };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },
};
