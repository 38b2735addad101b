import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { list } from "../reading/values.ts";

const KNOWN: readonly string[] = Object.values(TYPES);
/** Components of the project, its own dynamic resources, and the providers of all of these. */
const OWN = [
  /^steward:/,
  /^pulumi-nodejs:dynamic\/(serverless|channels|host|secrets):\w+$/,
  /^pulumi:providers:(cloudflare|command|docker|pulumi-nodejs)$/,
];

/**
 * A stack has resources of known types alone: what no rule knows, no rule looks at.
 *
 * Severity: medium. A resource of a new kind brings its own ways to be open to the internet.
 * Fix: rules for the type in this pack, or its name under `allow` in the policy configuration.
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
