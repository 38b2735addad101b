import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { stackRule } from "../rule.ts";
import { seenMigrations } from "../reading/migrations.ts";
import { resourcesOfType, type StackResource, TYPES } from "../reading/resource.ts";
import { fields, list, text } from "../reading/values.ts";

/**
 * A migration creates the class that owns the container, and each class that the Worker binds.
 *
 * Severity: critical. Without it the Worker has nothing to bind (specification, section 9).
 * Fix: the class in `newSqliteClasses` of an entry in `steward:migrations`.
 */
export const sandboxClassListed = stackRule({
  name: "sandbox-class-listed",
  description: `A migration creates the class ${SANDBOX_CLASS}, and each class of its own that the Worker binds.`,
  severity: "critical",
  topics: ["migrations"],
  check(resources) {
    const migrations = seenMigrations(resources);
    const last = migrations.at(-1);
    if (last === undefined) return [];
    const created = migrations.flatMap(({ newClasses }) => newClasses);
    const missing = neededClasses(resources).filter((name) => !created.includes(name));
    return missing.map((name) => ({
      urn: last.resource.urn,
      message: `No migration creates the class ${name}. Add it to newSqliteClasses of an entry in steward:migrations.`,
    }));
  },
});

function neededClasses(resources: readonly StackResource[]): string[] {
  const bound = resourcesOfType(resources, TYPES.workerVersion).flatMap(({ props }) =>
    list(props.bindings).flatMap((binding) => {
      const { className, scriptName } = fields(binding);
      return text(scriptName) === undefined ? (text(className) ?? []) : [];
    }),
  );
  return [...new Set([SANDBOX_CLASS, ...bound])];
}
