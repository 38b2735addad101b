import * as pulumi from "@pulumi/pulumi";
import type { PlannedMigrations } from "./migration-changes.ts";
import { migrationPlanProvider } from "./migration-plan-provider.ts";

/**
 * What is going to happen to the Worker's classes, as lines of every preview and update; a change that would
 * lose them stops both. It stands for nothing in the account: it keeps what was deployed. Let the Worker depend on it.
 */
export class MigrationPlan extends pulumi.dynamic.Resource {
  constructor(name: string, args: PlannedMigrations, opts?: pulumi.CustomResourceOptions) {
    const { workerName, migrations } = args;
    super(migrationPlanProvider, name, { workerName, migrations }, opts, "serverless", "MigrationPlan");
  }
}
