import { text, type Properties, type Value } from "../values.ts";
import { without, type ResourceDefinition } from "./definition.ts";
import { restOperations } from "./rest.ts";
import { bodyOf, fromWire, withDefaults } from "./shape.ts";

/** Names of the rule lists in Pulumi (plural) and in the API (singular). */
const PLURALS = { includes: "include", excludes: "exclude", requires: "require" };

const DEFAULTS: Properties = { sessionDuration: "24h" };

export const accessPolicy: ResourceDefinition = {
  type: "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy",
  required: ["accountId", "decision", "name"],
  optional: ["includes", "excludes", "requires", "sessionDuration"],
  replaceOn: ["accountId"],
  defaults: DEFAULTS,
  unanswered: ["accountId"],
  importable: true,
  ...restOperations({
    path: (inputs) => `/accounts/${text(inputs, "accountId")}/access/policies`,
    body,
    fromApi,
  }),
};

function body(inputs: Properties): Properties {
  const renamed = Object.entries(PLURALS).flatMap(([plural, singular]): [string, Value][] => {
    const value = inputs[plural];
    return value === undefined ? [] : [[singular, value]];
  });
  const rest = without(inputs, "accountId", ...Object.keys(PLURALS));
  return bodyOf(withDefaults(DEFAULTS, { ...rest, ...Object.fromEntries(renamed) }));
}

function fromApi(value: Value): Properties {
  const { include = [], exclude = [], require: required = [], ...rest } = fromWire(value);
  return { ...rest, includes: include, excludes: exclude, requires: required };
}
