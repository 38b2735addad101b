import { resourcesOfType, type StackResource, TYPES } from "./resource.ts";
import { type Declared, fields, equals, list, text } from "./values.ts";

/** An Access application with what it stands before. */
export interface Application {
  resource: StackResource<typeof TYPES.accessApplication>;
  /** True if a policy of it lets everyone pass without an identity. */
  bypassed: boolean;
  destinations: readonly Destination[];
}

/** A host and path of the public internet; a `*` at the path's end takes everything that begins like this. */
export interface Destination {
  host: string;
  path: string;
}

/** The stack's Access applications. */
export function seenApplications(resources: readonly StackResource[]): Application[] {
  return resourcesOfType(resources, TYPES.accessApplication).map((resource) => ({
    resource,
    bypassed: isBypassed(resource),
    destinations: list(resource.props.destinations).flatMap(destination),
  }));
}

/** The host names that the stack gives its Worker, if a preview shows them. */
export function ownHosts(resources: readonly StackResource[]): string[] {
  const domains = resourcesOfType(resources, TYPES.workersDomain).flatMap(
    ({ props }) => text(props.hostname) ?? [],
  );
  const gated = seenApplications(resources).flatMap(({ destinations }) =>
    destinations.map(({ host }) => host),
  );
  return [...new Set([...domains, ...gated])];
}

/** Tells whether a destination's path takes this one in. A `*` further inside counts as taking in nothing. */
export function coversPath({ path }: Destination, asked: string): boolean {
  if (path.endsWith("*")) return asked.startsWith(path.slice(0, -1));
  return asked === path || asked.startsWith(path.endsWith("/") ? path : `${path}/`);
}

/** An application names its policies by ids, which a first preview does not know: what they come from tells. */
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
