import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { list } from "../reading/values.ts";

const KNOWN: readonly string[] = Object.values(TYPES);
/** Components of the project, its own resources, and the providers of all of these. */
const OWN = [/^steward:/, /^pulumi:providers:(cloudflare|command|docker|steward)$/];

/**
 * Requires that a stack has only resources of known types: no rule checks a type that it does not know.
 *
 * Severity: medium. A new kind of resource may be open to the internet in ways of its own.
 * Fix: add rules for the type to this pack, or its name to `allow` in the policy configuration.
 */
export const knownTypes = resourceRule({
  name: "known-types",
  description: "A stack has resources of known types alone.",
  severity: "medium",
  topics: ["supply"],
  configSchema: {
    properties: {
      allow: {
        type: "array",
        items: { type: "string" },
        description: "Types beside the known ones.",
        default: [],
      },
    },
  },
  check({ type }, { allow }) {
    if (KNOWN.includes(type) || OWN.some((form) => form.test(type)) || list(allow).includes(type)) return [];
    return [
      `${type} is a type that no rule knows. Remove the resource, or allow the type in the policy configuration: {"known-types": {"allow": ["${type}"]}}.`,
    ];
  },
});
