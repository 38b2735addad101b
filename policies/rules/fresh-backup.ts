import { stackRule } from "../rule.ts";
import { type StackResource, TYPES } from "../reading/resource.ts";
import { isInProduction, PRODUCTION_SCHEMA } from "../reading/production.ts";
import { list } from "../reading/values.ts";

const DAY_MS = 24 * 3_600_000;
const STATE: readonly string[] = [TYPES.bucket, TYPES.volume];

/**
 * Requires a recent backup before a production bucket or volume is replaced, or deleted with its content. Rules see
 * only planned resources, so `npm run policies` passes the names of the existing ones as `deployed`.
 */
export const freshBackup = stackRule({
  name: "fresh-backup",
  description: "In production, replacing state requires a backup younger than a day.",
  severity: "critical",
  topics: ["production", "state"],
  configSchema: {
    properties: {
      ...PRODUCTION_SCHEMA,
      deployed: {
        type: "array",
        items: { type: "string" },
        description: "Names of the bucket or volume that the stack has now.",
        default: [],
      },
      backup: { type: "string", description: "When the last backup was taken, as ISO 8601.", default: "" },
    },
  },
  check(resources, { deployed, backup, ...config }) {
    const [first] = resources;
    if (first === undefined || !isInProduction(first, config) || isFresh(backup)) return [];
    const kept = stateNames(resources);
    const lost = list(deployed).filter((name) => !kept.includes(name));
    return lost.map((name) => ({
      message: `${String(name)} is replaced or deleted without a backup younger than a day. Take a backup, then run the command again with --backup and its time.`,
    }));
  },
});

function stateNames(resources: readonly StackResource[]): unknown[] {
  return resources.filter(({ type }) => STATE.includes(type)).map(({ props }) => props["name"]);
}

/** Returns true if the backup is younger than a day. A time in the future is a mistake and counts as old. */
function isFresh(backup: unknown): boolean {
  const age = Date.now() - (typeof backup === "string" ? Date.parse(backup) : Number.NaN);
  return age >= 0 && age < DAY_MS;
}
