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
