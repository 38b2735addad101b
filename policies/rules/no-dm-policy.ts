import type { ResourceValidationPolicy } from "@pulumi/policy";
import { ERRORS } from "../../runtime/contract/errors.ts";
import { handedVariables } from "./variables.ts";

const VARIABLE = "TELEGRAM_DM_POLICY";

/**
 * The variable that ends the gateway is not set.
 *
 * Severity: high. The gateway exits with code 1 when Telegram starts (specification, section 7).
 * Fix: remove the variable, or give it the empty value where it cannot be removed.
 */
export const noDmPolicy: ResourceValidationPolicy = {
  name: "no-dm-policy",
  description: `${VARIABLE} is not set.`,
  enforcementLevel: "mandatory",
  validateResource: (resource, reportViolation) => {
    const set = handedVariables(resource).some(({ name, value }) => name === VARIABLE && value !== "");
    if (set) reportViolation(`${VARIABLE} is set, which ends the gateway. ${ERRORS.dm_policy_set.fix}`);
  },
};
