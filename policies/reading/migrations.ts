import { resourcesOfType, type StackResource, TYPES } from "./resource.ts";
import { fields, list, text } from "./values.ts";

export interface SeenMigration {
  resource: StackResource<typeof TYPES.migrations>;
  /** Migration tag; `undefined` if it is not a string. */
  tag: string | undefined;
  newClasses: readonly unknown[];
}

export function seenMigrations(resources: readonly StackResource[]): SeenMigration[] {
  return resourcesOfType(resources, TYPES.migrations).flatMap((resource) =>
    list(resource.props["migrations"]).map((entry) => {
      const { tag, newSqliteClasses } = fields(entry);
      return { resource, tag: text(tag), newClasses: list(newSqliteClasses) };
    }),
  );
}
