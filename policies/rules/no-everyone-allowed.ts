import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, list, type Fields } from "../reading/values.ts";

/**
 * No policy allows everyone: who may sign in is named.
 *
 * Severity: critical. Whoever can prove any identity would be an operator.
 * Fix: `steward:operators` names the people; `everyone` belongs in the bypass of the public paths alone.
 */
export const noEveryoneAllowed = resourceRule({
  name: "no-everyone-allowed",
  description: "No allow policy includes everyone.",
  severity: "critical",
  topics: ["access"],
  types: [TYPES.accessPolicy, TYPES.accessApplication],
  check({ type, props }) {
    const policies = type === TYPES.accessPolicy ? [props] : list(props["policies"]).map(fields);
    return policies.filter(allowsEveryone).map(({ name }) => {
      const which = typeof name === "string" ? `The policy "${name}"` : "A policy";
      return `${which} allows everyone. Include the operators' e-mail addresses instead: steward:operators.`;
    });
  },
});

function allowsEveryone({ decision, includes }: Fields): boolean {
  return decision === "allow" && list(includes).some((rule) => Object.hasOwn(fields(rule), "everyone"));
}
