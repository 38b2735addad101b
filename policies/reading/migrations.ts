import { ofType, type StackResource, TYPES } from "./resource.ts";
import { fields, list, text } from "./values.ts";

/** A version of the Worker that carries a migration. */
export interface SeenMigration {
  version: StackResource<typeof TYPES.workerVersion>;
  tag: string;
  /** The tag that has to be applied before; `undefined` for the first one. */
  after: string | undefined;
  newClasses: readonly unknown[];
}

/** The stack's migrations in the order of their tags' numbers. */
export function seenMigrations(resources: readonly StackResource[]): SeenMigration[] {
  const found = ofType(resources, TYPES.workerVersion).flatMap((version): SeenMigration[] => {
    const { newTag, oldTag, newSqliteClasses } = fields(version.props.migrations);
    const tag = text(newTag);
    return tag === undefined
      ? []
      : [{ version, tag, after: text(oldTag), newClasses: list(newSqliteClasses) }];
  });
  return found.sort((a, b) => numberOf(a.tag) - numberOf(b.tag));
}

function numberOf(tag: string): number {
  return Number(/^v(\d+)$/.exec(tag)?.[1] ?? 0);
}
