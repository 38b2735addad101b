import { resourceRule } from "../rule.ts";
import { isInProduction, PRODUCTION_SCHEMA } from "../reading/production.ts";
import { commandsForResource, TYPES } from "../reading/resource.ts";

/** Requires deletion protection for the bucket and volume, which contain conversations, devices and the config file. */
export const stateProtected = resourceRule({
  name: "state-protected",
  description: "In production the bucket and the volume are protected.",
  severity: "critical",
  topics: ["production", "state"],
  configSchema: { properties: PRODUCTION_SCHEMA },
  types: [TYPES.bucket, TYPES.volume],
  check(resource, config) {
    if (!isInProduction(resource, config) || resource.opts.protect) return [];
    const what = resource.type === TYPES.bucket ? "bucket" : "volume";
    const { name } = resource.props;
    const set = commandsForResource(resource).configSet("steward:protectState", "true");
    return [`The ${what} ${String(name)} is not protected. Set it: \`${set}\`.`];
  },
});
