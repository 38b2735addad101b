import { resourceRule } from "../rule.ts";
import { isInProduction, PRODUCTION_SCHEMA } from "../reading/production.ts";
import { HANDING, handedVariables } from "../reading/variables.ts";

/**
 * Requires a stated reason for a container that never sleeps, because it is billed around the clock (specification,
 * section 8).
 */
export const neverWithReason = resourceRule({
  name: "never-with-reason",
  description: "In production, a container that never sleeps has a stated reason.",
  severity: "medium",
  topics: ["production"],
  configSchema: {
    properties: {
      ...PRODUCTION_SCHEMA,
      reason: { type: "string", description: "Why the container never sleeps.", default: "" },
    },
  },
  types: HANDING,
  check(resource, config) {
    const { reason } = config;
    if (!isInProduction(resource, config) || (typeof reason === "string" && reason.trim() !== "")) return [];
    const never = handedVariables(resource).some(
      ({ name, value }) => name === "SANDBOX_SLEEP_AFTER" && value === "never",
    );
    return never
      ? [
          'SANDBOX_SLEEP_AFTER is never, at the container\'s full price. Set steward:sleepAfter to a duration such as 1h, or give the reason in the policy configuration: {"never-with-reason": {"reason": "…"}}.',
        ]
      : [];
  },
});
