import { stackRule } from "../rule.ts";
import { seenMigrations } from "../reading/migrations.ts";

/**
 * Migration tags are v1, v2 and so on, each building on the one before.
 *
 * Severity: critical. Cloudflare refuses a tag that does not follow the applied one, in the middle of an update.
 * Fix: number the entries of `steward:migrations` from v1, without a gap.
 */
export const migrationTagsInOrder = stackRule({
  name: "migration-tags-in-order",
  description: "Migration tags are v1, v2 and so on, each building on the one before.",
  severity: "critical",
  topics: ["migrations"],
  check(resources) {
    return seenMigrations(resources).flatMap(({ version: { urn }, tag, after }, index) => {
      const expected = `v${index + 1}`;
      const before = index === 0 ? undefined : `v${index}`;
      if (tag !== expected) {
        const message = `Migration ${index + 1} has the tag ${tag}. Name it ${expected} in steward:migrations.`;
        return [{ urn, message }];
      }
      if (after === before) return [];
      const message = `Migration ${tag} builds on ${after ?? "nothing"}. Let it build on ${before ?? "nothing"}: steward:migrations lists the entries in their order.`;
      return [{ urn, message }];
    });
  },
});
