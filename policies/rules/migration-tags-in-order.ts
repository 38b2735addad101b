import { stackRule } from "../rule.ts";
import { seenMigrations } from "../reading/migrations.ts";

/** Requires the migration tags v1, v2 and so on, because tags added later continue this numbering. */
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
