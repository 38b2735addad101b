import { DIRECTORY_CLASS } from "../../runtime/contract/names.ts";

/** One step of the Worker's Durable Object migrations. */
export interface Migration {
  /** `v1`, `v2`, … without gaps. */
  tag: string;
  /** Classes with SQLite storage that this step creates. Steps never remove a class. */
  newSqliteClasses: string[];
}

const CLASS_NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Returns one sentence per problem with the list.
 *
 * @param required classes that must exist after the last step
 */
export function checkMigrations(migrations: readonly Migration[], required: readonly string[]): string[] {
  const tags = migrations.flatMap(({ tag }, index) =>
    tag === `v${index + 1}` ? [] : [`entry ${index + 1} has the tag "${tag}", expected "v${index + 1}"`],
  );
  const classes = migrations.flatMap(({ tag, newSqliteClasses }) =>
    newSqliteClasses
      .filter((name) => !CLASS_NAME.test(name))
      .map((name) => `"${name}" of ${tag} is not a class name`),
  );
  const missing = missingClasses(migrations, required).map((name) => `no entry creates the class ${name}`);
  return [...tags, ...classes, ...missing];
}

export function missingClasses(migrations: readonly Migration[], required: readonly string[]): string[] {
  const created = new Set(migrations.flatMap(({ newSqliteClasses }) => newSqliteClasses));
  return required.filter((name) => !created.has(name));
}

/**
 * Returns a likely correction of an invalid list: a list with all tags from v1 to the highest, and all required
 * classes.
 */
export function repairedMigrations(
  migrations: readonly Migration[],
  required: readonly [string, ...string[]],
): Migration[] {
  const numbered = migrations.map(({ tag }, index) => Number(/^v([1-9]\d?)$/.exec(tag)?.[1] ?? index + 1));
  const highest = Math.max(migrations.length, ...numbered, 1);
  const classesOf = (classes: readonly string[]): string[] => {
    const valid = classes.filter((name) => CLASS_NAME.test(name));
    return valid.length > 0 ? valid : [required[0]];
  };
  const repaired = Array.from({ length: highest }, (_, index): Migration => {
    const exact = migrations[numbered.indexOf(index + 1)];
    const next = exact ?? migrations[numbered.findIndex((number) => number > index)] ?? migrations.at(-1);
    return { tag: `v${index + 1}`, newSqliteClasses: classesOf(next?.newSqliteClasses ?? []) };
  });
  const missing = missingClasses(repaired, required);
  if (missing.length === 0) return repaired;
  return [...repaired, { tag: `v${highest + 1}`, newSqliteClasses: missing }];
}

export interface AppliedMigrations {
  /** Tag of the last applied migration; `undefined` before the first. */
  tag: string | undefined;
  /** Existing Durable Object classes. */
  classes: readonly string[];
}

/** Migrations that an update sends in one request, so Cloudflare applies all or none. */
export interface PendingMigrations {
  oldTag?: string;
  newTag: string;
  /** New classes of each entry. */
  steps: string[][];
  /** Classes that exist afterwards. */
  classes: string[];
}

/** Returns the number of entries up to a tag: 2 for v2, 0 without a tag, `undefined` for a tag of another form. */
export function entriesUpTo(tag: string | undefined): number | undefined {
  if (tag === undefined) return 0;
  const number = /^v([1-9]\d*)$/.exec(tag)?.[1];
  return number === undefined ? undefined : Number(number);
}

export function pendingEntries(
  migrations: readonly Migration[],
  { tag }: Pick<AppliedMigrations, "tag">,
): Migration[] {
  return migrations.slice(entriesUpTo(tag) ?? migrations.length);
}

export function pendingMigrations(
  migrations: readonly Migration[],
  applied: AppliedMigrations,
): PendingMigrations | undefined {
  const entries = pendingEntries(migrations, applied);
  const newTag = entries.at(-1)?.tag;
  if (newTag === undefined) return undefined;
  const classes = new Set(applied.classes);
  const steps = entries.map(({ newSqliteClasses }) => {
    const created = [...new Set(newSqliteClasses)].filter((name) => !classes.has(name));
    for (const name of created) classes.add(name);
    return created;
  });
  return { ...(applied.tag !== undefined && { oldTag: applied.tag }), newTag, steps, classes: [...classes] };
}

/**
 * Returns the migrations that were applied. An existing class that none of them lists is added to the last migration,
 * because it is unknown which migration created the class.
 */
export function appliedEntries(migrations: readonly Migration[], applied: AppliedMigrations): Migration[] {
  const unlisted = new Set(applied.classes);
  const entries = Array.from({ length: entriesUpTo(applied.tag) ?? 0 }, (_, index): Migration => {
    const listed = migrations[index]?.newSqliteClasses ?? [];
    return {
      tag: `v${index + 1}`,
      newSqliteClasses: listed.filter((name) => applied.classes.includes(name)),
    };
  });
  for (const name of entries.flatMap(({ newSqliteClasses }) => newSqliteClasses)) unlisted.delete(name);
  entries.at(-1)?.newSqliteClasses.push(...unlisted);
  return entries;
}

/**
 * Returns true if the list starts with the applied entries. Always false if the applied tag is not of the form v1,
 * v2, …
 */
export function startsWithApplied(migrations: readonly Migration[], applied: AppliedMigrations): boolean {
  const count = entriesUpTo(applied.tag);
  if (count === undefined) return false;
  return isSame(migrations.slice(0, count), appliedEntries(migrations, applied));
}

export function isSame(one: readonly Migration[], other: readonly Migration[]): boolean {
  return JSON.stringify(one.map(fieldsOf)) === JSON.stringify(other.map(fieldsOf));
}

function fieldsOf({ tag, newSqliteClasses }: Migration): [string, string[]] {
  return [tag, newSqliteClasses];
}

/** Returns one line per effect of renaming a Worker. */
export function renamingLines(
  previousName: string,
  workerName: string,
  migrations: readonly Migration[],
): string[] {
  // The list contains the directory class even after a return to one shared sandbox, because entries are never
  // removed.
  if (missingClasses(migrations, [DIRECTORY_CLASS]).length === 0) {
    return [
      `Worker ${previousName} → ${workerName}: created with its classes and containers, and deleted under the old name`,
      "Kept: the bucket with the containers' backups, from which the new containers start",
      "Lost: the old Worker's Durable Objects (each chat's ledger with accepted but unanswered events and its history, and the directory of chats and people), and container changes since the last backups",
    ];
  }
  return [
    `Worker ${previousName} → ${workerName}: created with its classes and container, and deleted under the old name`,
    "Kept: the bucket with the container's backups, from which the new container starts",
    "Lost: the old Worker's Durable Object (the ledger with accepted but unanswered events and its history), and container changes since the last backup",
  ];
}

export function applyingLine(entries: readonly Migration[]): string {
  return `Migrations: ${entries.map(({ tag }) => tag).join(", ")} to be applied`;
}
