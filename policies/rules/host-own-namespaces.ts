import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { equals } from "../reading/values.ts";

const MODES = ["networkMode", "pidMode", "ipcMode", "usernsMode"] as const;

/**
 * The container has a network of its own, and its own processes, memory and users too.
 *
 * Severity: critical. On the host's network the control ports are the host's, and the agent's tools reach
 * whatever listens on its loopback address.
 * Fix: no `host` mode; a port is published.
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
