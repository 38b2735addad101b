import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { equals } from "../reading/values.ts";

const MODES = ["networkMode", "pidMode", "ipcMode", "usernsMode"] as const;

/**
 * Forbids sharing the host's namespaces. On the host's network, the agent's tools could reach every loopback service.
 */
export const hostOwnNamespaces = resourceRule({
  name: "host-own-namespaces",
  description: "The container does not share the host's network, processes, memory or users.",
  severity: "critical",
  topics: ["host"],
  types: [TYPES.container],
  check({ props }) {
    return MODES.filter((mode) => equals(props[mode], "host")).map(
      (mode) => `The container's ${mode} is host. Remove ${mode}.`,
    );
  },
});
