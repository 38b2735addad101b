import { stackRule } from "../rule.ts";
import { seenMigrations } from "../reading/migrations.ts";

/** Requires migrations to be tagged v1, v2 and so on, in order and without gaps. */
export const migrationTagsInOrder = stackRule({
  name: "migration-tags-in-order",
  description: "Migration tags are v1, v2 and so on.",
  severity: "critical",
  topics: ["migrations"],
  check(resources) {
    return seenMigrations(resources).flatMap(({ resource: { urn }, tag }, index) => {
      const expected = `v${index + 1}`;
      if (tag === expected) return [];
      const message = `Migration ${index + 1} has the tag ${tag ?? "none"}. Name it ${expected} in steward:migrations.`;
      return [{ urn, message }];
    });
  },
});
