import { fixOf } from "../../runtime/contract/errors.ts";

/** One step of the Worker's Durable Object migrations (specification, section 9). */
export interface Migration {
  /** `v1`, `v2`, …: one more than the step before. */
  tag: string;
  /** Classes with SQLite storage that this step creates; a class that an earlier step created stays. */
  newSqliteClasses: string[];
}

/** A step as it is sent to Cloudflare. */
export interface MigrationStep {
  oldTag?: string;
  newTag: string;
  /** The classes that are new with this step. */
  created: string[];
  /** All classes that exist after this step. */
  classes: string[];
}

const CLASS_NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Everything that is wrong with a list of migrations, one sentence each.
 *
 * @param required the class that has to exist after the last step.
 */
export function checkMigrations(migrations: readonly Migration[], required: string): string[] {
  const tags = migrations.flatMap(({ tag }, index) =>
    tag === `v${index + 1}` ? [] : [`entry ${index + 1} has the tag "${tag}", expected "v${index + 1}"`],
  );
  const classes = migrations.flatMap(({ tag, newSqliteClasses }) =>
    newSqliteClasses
      .filter((name) => !CLASS_NAME.test(name))
      .map((name) => `"${name}" of ${tag} is not a class name`),
  );
  const known = migrations.some(({ newSqliteClasses }) => newSqliteClasses.includes(required));
  return [...tags, ...classes, ...(known ? [] : [`no entry creates the class ${required}`])];
}

/**
 * Returns the list that a wrong one most likely means: the tags in their order from v1 to the highest that is named, and
 * a last entry that creates `required` if none does. A tag that was raised stays; an earlier one that is missing creates
 * the classes of the next.
 */
export function repairedMigrations(migrations: readonly Migration[], required: string): Migration[] {
  const numbered = migrations.map(({ tag }, index) => Number(/^v([1-9]\d?)$/.exec(tag)?.[1] ?? index + 1));
  const highest = Math.max(migrations.length, ...numbered, 1);
  const classesOf = (classes: readonly string[]): string[] => {
    const valid = classes.filter((name) => CLASS_NAME.test(name));
    return valid.length > 0 ? valid : [required];
  };
  const repaired = Array.from({ length: highest }, (_, index): Migration => {
    const exact = migrations[numbered.indexOf(index + 1)];
    const next = exact ?? migrations[numbered.findIndex((number) => number > index)] ?? migrations.at(-1);
    return { tag: `v${index + 1}`, newSqliteClasses: classesOf(next?.newSqliteClasses ?? []) };
  });
  if (repaired.some(({ newSqliteClasses }) => newSqliteClasses.includes(required))) return repaired;
  return [...repaired, { tag: `v${highest + 1}`, newSqliteClasses: [required] }];
}

/** The list as steps, each building on the one before. Expects a list without problems. */
export function migrationSteps(migrations: readonly Migration[]): MigrationStep[] {
  const classes = new Set<string>();
  return migrations.map(({ tag, newSqliteClasses }, index) => {
    const created = newSqliteClasses.filter((name) => !classes.has(name));
    for (const name of created) classes.add(name);
    const before = migrations[index - 1]?.tag;
    return { ...(before && { oldTag: before }), newTag: tag, created, classes: [...classes] };
  });
}

/** Migrations of a stack, and what they are applied to. */
export interface PlannedMigrations {
  workerName: string;
  migrations: readonly Migration[];
}

/** Returns what a change of the list, or of the Worker's name, must not do to what is deployed, one sentence each. */
export function refusedChanges(deployed: PlannedMigrations, planned: PlannedMigrations): string[] {
  const applied = deployed.migrations;
  const edited = applied.filter((migration, index) => !isSame(migration, planned.migrations[index]));
  if (edited.length > 0) {
    const tags = edited.map(({ tag }) => tag).join(", ");
    return [
      `${tags} of steward:migrations is applied and not as it was (migration_changed). ${fixOf("migration_changed")}`,
    ];
  }
  const renamed = deployed.workerName !== planned.workerName;
  if (!renamed || planned.migrations.length > applied.length) return [];
  const names = `from ${deployed.workerName} to ${planned.workerName}`;
  const next = `v${applied.length + 1}`;
  return [
    `The Worker's name changes ${names} without a new tag, ${next} (migration_tag_missing). ${fixOf("migration_tag_missing")}`,
  ];
}

/** The tags that an update applies. */
export function addedTags(deployed: PlannedMigrations, planned: PlannedMigrations): string[] {
  return planned.migrations.slice(deployed.migrations.length).map(({ tag }) => tag);
}

/** Returns what an update is going to do to the Worker's classes and what they keep, a line each; empty where it does nothing. */
export function plannedChanges(deployed: PlannedMigrations, planned: PlannedMigrations): string[] {
  const added = addedTags(deployed, planned);
  const tags = added.length === 0 ? [] : [`Migrations: ${added.join(", ")} to be applied`];
  if (deployed.workerName === planned.workerName) return tags;
  return [
    ...tags,
    `Worker ${deployed.workerName} → ${planned.workerName}: created with its classes and container, and deleted under the old name`,
    "Moves along: the bucket with the container's backups, which the new container begins with",
    "Lost: the old Worker's Durable Object (the ledger with accepted but unanswered events and its history), and container changes since the last backup",
  ];
}

function isSame(one: Migration, other: Migration | undefined): boolean {
  return one.tag === other?.tag && `${one.newSqliteClasses}` === `${other.newSqliteClasses}`;
}
