import * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../dynamic/resource.ts";
import { plannedChanges, type PlannedMigrations, refusedChanges } from "./migration-list.ts";

/** Compares the plan with what is deployed, which the engine tells a provider alone, in a preview too. */
export const migrationPlanProvider: pulumi.dynamic.ResourceProvider<PlannedMigrations, PlannedMigrations> = {
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

/**
 * Plan for the Worker's classes, as lines of every preview and update; a change that would
 * lose them stops both. It stands for nothing in the account: it keeps what was deployed. Let the Worker depend on it.
 */
export class MigrationPlan extends DynamicResource {
  constructor(name: string, args: PlannedMigrations, opts?: pulumi.CustomResourceOptions) {
    const { workerName, migrations } = args;
    super("serverless:MigrationPlan", name, { workerName, migrations }, opts);
  }
}
