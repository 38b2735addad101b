import { resourceRule } from "../rule.ts";
import { type Props, type Resource, TYPES } from "../reading/resource.ts";
import { fields, equals, list } from "../reading/values.ts";

/** Forbids a policy that lets everyone sign in, because every signed-in person is an operator. */
export const noEveryoneAllowed = resourceRule({
  name: "no-everyone-allowed",
  description: "No allow policy includes everyone.",
  severity: "critical",
  topics: ["access"],
  types: [TYPES.accessPolicy, TYPES.accessApplication],
  check(resource) {
    return policiesOf(resource)
      .filter(allowsEveryone)
      .map(({ name }) => {
        const which = typeof name === "string" ? `The policy "${name}"` : "A policy";
        return `${which} allows everyone. Include the operators' e-mail addresses instead: steward:operators.`;
      });
  },
});

type Policy = Pick<Props<typeof TYPES.accessPolicy>, "name" | "decision" | "includes">;

function policiesOf(
  resource: Resource<typeof TYPES.accessPolicy> | Resource<typeof TYPES.accessApplication>,
): Policy[] {
  if (resource.type === TYPES.accessPolicy) return [resource.props];
  return list(resource.props.policies).map((policy) => fields(policy));
}

function allowsEveryone({ decision, includes }: Policy): boolean {
  return equals(decision, "allow") && list(includes).some((rule) => fields(rule).everyone !== undefined);
}
