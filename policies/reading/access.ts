import { resourcesOfType, type StackResource, TYPES } from "./resource.ts";
import { type Declared, fields, equals, list, text } from "./values.ts";

export interface Application {
  resource: StackResource<typeof TYPES.accessApplication>;
  /** True if a policy lets everyone in without an identity. */
  bypassed: boolean;
  destinations: readonly Destination[];
}

/** A host and path that an Access application covers. A trailing `*` in the path matches every suffix. */
export interface Destination {
  host: string;
  path: string;
}

export function seenApplications(resources: readonly StackResource[]): Application[] {
  return resourcesOfType(resources, TYPES.accessApplication).map((resource) => ({
    resource,
    bypassed: isBypassed(resource),
    destinations: list(resource.props.destinations).flatMap(destination),
  }));
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

/**
 * Returns true if a policy bypasses Access: one in the application's properties, or a policy resource in `sources`.
 */
function isBypassed({ props, sources }: StackResource<typeof TYPES.accessApplication>): boolean {
  const named = resourcesOfType(sources["policies"] ?? [], TYPES.accessPolicy).map((policy) => policy.props);
  const inline = list(props.policies).map((policy) => fields(policy));
  return [...named, ...inline].some(({ decision }) => equals(decision, "bypass"));
}

function destination(value: Declared<{ uri?: string }>): Destination[] {
  const uri = text(fields(value).uri);
  if (uri === undefined) return [];
  const [host = "", ...rest] = uri.replace(/^https?:\/\//, "").split("/");
  return [{ host, path: `/${rest.join("/")}` }];
}
