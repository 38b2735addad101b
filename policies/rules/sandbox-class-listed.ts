import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { stackRule } from "../rule.ts";
import { seenMigrations } from "../reading/migrations.ts";
import { resourcesOfType, type StackResource, TYPES } from "../reading/resource.ts";
import { fields, list, text } from "../reading/values.ts";

/**
 * Requires a migration for each Durable Object class that the Worker binds. Cloudflare rejects a binding to a class
 * that no migration created (specification, section 9).
 */
export const sandboxClassListed = stackRule({
  name: "sandbox-class-listed",
  description: `Migrations create the class ${SANDBOX_CLASS} and every own class that the Worker binds.`,
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
