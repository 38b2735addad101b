import { ROUTES } from "../../runtime/contract/routes.ts";
import { stackRule } from "../rule.ts";
import { ownHosts, seenApplications, coversPath } from "../reading/access.ts";
import { valuesOf } from "../reading/variables.ts";

const PRIVATE = [
  ...new Set(Object.values(ROUTES).flatMap(({ access, path }) => (access === "identity" ? [path] : []))),
];

/**
 * Requires Cloudflare Access in front of private routes, in addition to the Worker's own check. Passes if no team
 * domain is set, because the Worker then refuses every request to these routes.
 */
export const privateRoutesGated = stackRule({
  name: "private-routes-gated",
  description: "Every route that requires an identity is behind an Access application.",
  severity: "critical",
  topics: ["access"],
  check(resources) {
    if (valuesOf("EDGE_ACCESS_TEAM_DOMAIN", resources).length === 0) return [];
    const applications = seenApplications(resources).filter(({ bypassed }) => !bypassed);
    if (!applications.every(({ isKnown }) => isKnown)) return [];
    const gates = applications.flatMap(({ destinations }) => destinations);
    const hosts = ownHosts(resources);
    return (hosts.length === 0 ? ["the Worker"] : hosts).flatMap((host) => {
      const here = gates.filter((gate) => gate.host === host);
      const open = PRIVATE.filter((path) => !here.some((gate) => coversPath(gate, path)));
      if (open.length === 0) return [];
      const message = `${open.join(", ")} of ${host} is not behind an Access application. Add destinations that cover these paths.`;
      return [{ message }];
    });
  },
});
