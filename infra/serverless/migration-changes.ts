import { ERRORS } from "../../runtime/contract/errors.ts";
import type { Migration } from "./migration-list.ts";

/** What a stack's migrations are applied to, and which they are. */
export interface PlannedMigrations {
  workerName: string;
  migrations: readonly Migration[];
}

// Texts alone: a provider that is serialised uses this.
const { fix: KEEP_APPLIED } = ERRORS.migration_changed;
const { fix: ADD_TAG } = ERRORS.migration_tag_missing;

/** What a change of the list, or of the Worker's name, must not do to what is deployed, one sentence each. */
export function refusedChanges(deployed: PlannedMigrations, planned: PlannedMigrations): string[] {
  const applied = deployed.migrations;
  const edited = applied.filter((migration, index) => !isSame(migration, planned.migrations[index]));
  if (edited.length > 0) {
    const tags = edited.map(({ tag }) => tag).join(", ");
    return [
      `${tags} of steward:migrations is applied and not as it was (migration_changed). ${KEEP_APPLIED}`,
    ];
  }
  const renamed = deployed.workerName !== planned.workerName;
  if (!renamed || planned.migrations.length > applied.length) return [];
  const names = `from ${deployed.workerName} to ${planned.workerName}`;
  const next = `v${applied.length + 1}`;
  return [
    `The Worker's name changes ${names} without a new tag, ${next} (migration_tag_missing). ${ADD_TAG}`,
  ];
}

/** The tags that an update applies. */
export function addedTags(deployed: PlannedMigrations, planned: PlannedMigrations): string[] {
  return planned.migrations.slice(deployed.migrations.length).map(({ tag }) => tag);
}

/** What an update is going to do to the Worker's classes and what they keep, a line each; empty where it does nothing. */
export function plannedChanges(deployed: PlannedMigrations, planned: PlannedMigrations): string[] {
  const added = addedTags(deployed, planned);
  const tags = added.length === 0 ? [] : [`Migrations: ${added.join(", ")} to be applied`];
  if (deployed.workerName === planned.workerName) return tags;
  return [
    ...tags,
    `Worker ${deployed.workerName} → ${planned.workerName}: created anew with its classes and its container, and deleted under the old name`,
    "Moves along: the bucket with the container's backups, which the new container begins with",
    "Left behind: what the old Worker's Durable Object keeps (the ledger: what is accepted and not yet answered, and the history), and what the container has changed since its last backup",
  ];
}

function isSame(one: Migration, other: Migration | undefined): boolean {
  return one.tag === other?.tag && `${one.newSqliteClasses}` === `${other.newSqliteClasses}`;
}
