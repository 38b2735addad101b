import { resourcesOfType, type StackResource, TYPES } from "./resource.ts";
import { fields, list, text } from "./values.ts";

/** An entry of the Worker's migrations. */
export interface SeenMigration {
  resource: StackResource<typeof TYPES.migrations>;
  /** `undefined` if it is no text. */
  tag: string | undefined;
  newClasses: readonly unknown[];
}

/** The entries of the stack's migrations, in the order in which they are applied. */
export function seenMigrations(resources: readonly StackResource[]): SeenMigration[] {
  return resourcesOfType(resources, TYPES.migrations).flatMap((resource) =>
    list(resource.props["migrations"]).map((entry) => {
      const { tag, newSqliteClasses } = fields(entry);
      return { resource, tag: text(tag), newClasses: list(newSqliteClasses) };
    }),
  );
}
