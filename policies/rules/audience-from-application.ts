import { stackRule, type Violation } from "../rule.ts";
import { seenApplications } from "../reading/access.ts";
import { resourcesOfType, type StackResource, TYPES } from "../reading/resource.ts";
import { text } from "../reading/values.ts";
import { valuesOf } from "../reading/variables.ts";

/**
 * Requires the Worker's audience to be that of the stack's Access application. Otherwise, either nobody or the users
 * of another application can sign in.
 */
export const audienceFromApplication = stackRule({
  name: "audience-from-application",
  description: "The audience comes from the stack's Access application.",
  severity: "critical",
  topics: ["access"],
  check(resources) {
    return resourcesOfType(resources, TYPES.workerVersion).flatMap((version) => problem(version, resources));
  },
});

function problem(version: StackResource, resources: readonly StackResource[]): Violation[] {
  const { urn, sources } = version;
  const audiences = valuesOf("EDGE_ACCESS_AUD", [version]);
  if (audiences.length === 0) {
    const gated = valuesOf("EDGE_ACCESS_TEAM_DOMAIN", [version]).length > 0;
    const message =
      "EDGE_ACCESS_TEAM_DOMAIN is set without EDGE_ACCESS_AUD. Bind the aud of the Access application.";
    return gated ? [{ urn, message }] : [];
  }
  // An application that everyone may bypass issues no tokens.
  const applications = seenApplications(resources).filter(({ bypassed }) => !bypassed);
  const known = applications.map(({ resource }) => text(resource.props.aud));
  const from = (sources["bindings"] ?? []).map((source) => source.urn);
  const derived = applications.some(({ resource }) => from.includes(resource.urn));
  const right = audiences.every((value) => (value === undefined ? derived : known.includes(value)));
  const message =
    "EDGE_ACCESS_AUD is not the audience of this stack's Access application. Bind the application's aud.";
  return right ? [] : [{ urn, message }];
}
