import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { stackRule } from "../rule.ts";
import { seenMigrations } from "../reading/migrations.ts";

/**
 * A migration creates the class that owns the container.
 *
 * Severity: critical. Without it the Worker has nothing to bind (specification, section 9).
 * Fix: the class in `newSqliteClasses` of an entry in `steward:migrations`.
 */
export const sandboxClassListed = stackRule({
  name: "sandbox-class-listed",
  description: `A migration creates the class ${SANDBOX_CLASS}.`,
  severity: "critical",
  topics: ["migrations"],
  check(resources) {
    const migrations = seenMigrations(resources);
    const last = migrations.at(-1);
    const listed = migrations.some(({ newClasses }) => newClasses.includes(SANDBOX_CLASS));
    if (last === undefined || listed) return [];
    const message = `No migration creates the class ${SANDBOX_CLASS}. Add it to newSqliteClasses of an entry in steward:migrations.`;
    return [{ urn: last.resource.urn, message }];
  },
});
