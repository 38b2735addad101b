import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { list } from "../reading/values.ts";

const KNOWN: readonly string[] = Object.values(TYPES);
/** Types of the project's own components and resources, and of its provider resources. */
const OWN = [/^steward:/, /^pulumi:providers:(cloudflare|command|docker|steward)$/];

/** Forbids resource types that no rule checks, because they could expose the stack to the internet unnoticed. */
export const knownTypes = resourceRule({
  name: "known-types",
  description: "A stack has only resources of known types.",
  severity: "medium",
  topics: ["supply"],
  configSchema: {
    properties: {
      allow: {
        type: "array",
        items: { type: "string" },
        description: "Additional allowed types.",
        default: [],
      },
    },
  },
  check({ type }, { allow }) {
    if (KNOWN.includes(type) || OWN.some((form) => form.test(type)) || list(allow).includes(type)) return [];
    return [
      `${type} is a type that no rule checks. Remove the resource, or allow the type in the policy configuration: {"known-types": {"allow": ["${type}"]}}.`,
    ];
  },
});
