import { resourceRule } from "../rule.ts";
import { isInProduction, PRODUCTION_SCHEMA } from "../reading/production.ts";
import { HANDING, handedVariables } from "../reading/variables.ts";

/**
 * Production's container sleeps, unless a reason is written down why it never does.
 *
 * Severity: medium. A container that never sleeps costs its full price (specification, section 8).
 * Fix: a duration in `steward:sleepAfter`, or this rule's `reason` in the policy configuration.
 */
export const neverWithReason = resourceRule({
  name: "never-with-reason",
  description: "In production the container never stays awake without a reason.",
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
