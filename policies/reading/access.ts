import { resourcesOfType, type StackResource, TYPES } from "./resource.ts";
import { type Declared, fields, equals, isUnknown, list, text } from "./values.ts";

export interface Application {
  resource: StackResource<typeof TYPES.accessApplication>;
  /** True if a policy lets everyone in without an identity. */
  bypassed: boolean;
  /** The known ones. */
  destinations: readonly Destination[];
  /** False if the preview does not know a destination or a policy's decision yet. */
  isKnown: boolean;
}

/** A host and path that an Access application covers. A trailing `*` in the path matches every suffix. */
export interface Destination {
  host: string;
  path: string;
}

export function seenApplications(resources: readonly StackResource[]): Application[] {
  return resourcesOfType(resources, TYPES.accessApplication).map((resource) => {
    const { destinations, policies } = resource.props;
    const decisions = decisionsOf(resource);
    const values = [destinations, policies, ...decisions, ...list(destinations).flatMap(uriOf)];
    return {
      resource,
      // `decisions` also contains the decisions of policies declared as their own resources, so a preview checks
      // those policies too.
      bypassed: decisions.some((decision) => equals(decision, "bypass")),
      destinations: list(destinations).flatMap(destination),
      isKnown: !values.some(isUnknown),
    };
  });
}

/** Returns the Worker's known host names: its custom domains and the hosts in Access destinations. */
export function ownHosts(resources: readonly StackResource[]): string[] {
  const domains = resourcesOfType(resources, TYPES.workersDomain).flatMap(
    ({ props }) => text(props.hostname) ?? [],
  );
  const gated = seenApplications(resources).flatMap(({ destinations }) =>
    destinations.map(({ host }) => host),
  );
  return [...new Set([...domains, ...gated])];
}

export function coversPath({ path }: Destination, asked: string): boolean {
  if (path.endsWith("*")) return asked.startsWith(path.slice(0, -1));
  return asked === path || asked.startsWith(path.endsWith("/") ? path : `${path}/`);
}

/** Returns the decisions of an access application's policies, both inline policies and separate policy resources. */
function decisionsOf({ props, sources }: StackResource<typeof TYPES.accessApplication>) {
  const named = resourcesOfType(sources["policies"] ?? [], TYPES.accessPolicy).map((policy) => policy.props);
  const inline = list(props.policies).map((policy) => fields(policy));
  return [...named, ...inline].map(({ decision }) => decision);
}

function uriOf(value: Declared<{ uri?: string }>): unknown[] {
  return [value, fields(value).uri];
}

function destination(value: Declared<{ uri?: string }>): Destination[] {
  const uri = text(fields(value).uri);
  if (uri === undefined) return [];
  const [host = "", ...rest] = uri.replace(/^https?:\/\//, "").split("/");
  return [{ host, path: `/${rest.join("/")}` }];
}
