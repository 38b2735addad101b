import { stackRule } from "../rule.ts";
import { deploymentsOf, seenMigrations } from "../seen/migrations.ts";
import { ofType } from "../seen/resource.ts";
import { TYPES } from "../seen/types.ts";
import { text } from "../seen/values.ts";

/**
 * A Worker of another name comes with a new migration tag. What applied a tag stays as it was then, so it
 * still names the Worker that the tag was applied to.
 *
 * Severity: critical. Classes belong to the Worker of the old name (specification, section 9).
 * Fix: an entry with the next tag in `steward:migrations`.
 */
export const migrationFollowsWorkerName = stackRule({
  name: "migration-follows-worker-name",
  description: "A Worker of another name comes with a new migration tag.",
  severity: "critical",
  topics: ["migrations"],
  check(resources) {
    const last = seenMigrations(resources).at(-1);
    if (last === undefined) return [];
    const applied = deploymentsOf(last.version, resources).flatMap(
      ({ props }) => text(props["scriptName"]) ?? [],
    );
    return ofType(resources, TYPES.worker).flatMap(({ urn, props }) => {
      const name = text(props["name"]);
      const former = applied.find((script) => script !== name);
      if (name === undefined || former === undefined) return [];
      const next = `v${Number(last.tag.slice(1)) + 1}`;
      return [
        {
          urn,
          message: `The Worker's name changes from ${former} to ${name} without a new migration tag. Add an entry with the tag ${next} to steward:migrations, or keep steward:workerName.`,
        },
      ];
    });
  },
});
