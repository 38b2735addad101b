import { stackRule } from "../rule.ts";
import { resourcesOfType, TYPES } from "../reading/resource.ts";
import { ownHosts } from "../reading/access.ts";
import { text } from "../reading/values.ts";
import { valuesOf } from "../reading/variables.ts";

/**
 * Forbids the Worker's own host name as the team domain. Otherwise, the Worker would verify identities with keys
 * fetched from itself.
 */
export const teamDomainIsForeign = stackRule({
  name: "team-domain-is-foreign",
  description: "The team domain is the identity gateway's, not the Worker's.",
  severity: "critical",
  topics: ["access"],
  check(resources) {
    const hosts = ownHosts(resources);
    const workers = resourcesOfType(resources, TYPES.worker).flatMap(({ props }) => text(props.name) ?? []);
    const own = (domain: string) =>
      hosts.includes(domain) ||
      workers.some((name) => domain.startsWith(`${name}.`) && domain.endsWith(".workers.dev"));
    const domains = valuesOf("EDGE_ACCESS_TEAM_DOMAIN", resources).flatMap((value) => value ?? []);
    return domains
      .map(hostOf)
      .filter(own)
      .map((domain) => ({
        message: `EDGE_ACCESS_TEAM_DOMAIN is the Worker's own host ${domain}. Set steward:teamDomain to <team>.cloudflareaccess.com.`,
      }));
  },
});

/** Returns the host of a team domain, which is an origin in rehearsals and otherwise a host name. */
function hostOf(domain: string): string {
  return domain.replace(/^https?:\/\//, "").toLowerCase();
}
