import { fixOf } from "../../runtime/contract/errors.ts";
import { resourceRule } from "../rule.ts";
import { HANDING, handedVariables } from "../reading/variables.ts";

const VARIABLE = "TELEGRAM_DM_POLICY";

/**
 * Forbids TELEGRAM_DM_POLICY. If it is set, the gateway exits with code 1 when Telegram starts (specification, section
 * 7).
 */
export const noDmPolicy = resourceRule({
  name: "no-dm-policy",
  description: `${VARIABLE} is not set.`,
  severity: "high",
  topics: ["secrets"],
  types: HANDING,
  check(resource) {
    const set = handedVariables(resource).some(({ name, value }) => name === VARIABLE && value !== "");
    return set ? [`${VARIABLE} is set, which stops the gateway. ${fixOf("dm_policy_set")}`] : [];
  },
});
