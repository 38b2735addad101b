import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";
import { copy, fields, type Fields } from "./values.ts";

/** A resource as the rules see it: its inputs in a rule about one, its outputs in a rule about the stack. */
export interface Resource {
  type: string;
  urn: string;
  props: Fields;
  opts: Pick<ResourceValidationArgs["opts"], "additionalSecretOutputs" | "protect">;
}

/** A resource of a whole stack. */
export interface StackResource extends Resource {
  /** The types of the resources that a property's value comes from. */
  sources: Readonly<Record<string, readonly StackResource[]>>;
}

/** What the engine hands to a rule about one resource. */
export function seenResource({ type, urn, props, opts }: ResourceValidationArgs): Resource {
  return { type, urn, props: fields(copy(props)), opts };
}

/** What the engine hands to a rule about the stack. */
export function seenStack(resources: readonly PolicyResource[]): StackResource[] {
  const seen = new Map<string, StackResource>();
  const see = ({ type, urn, props, opts, propertyDependencies }: PolicyResource): StackResource => {
    const known = seen.get(urn);
    if (known !== undefined) return known;
    const entries = Object.entries(propertyDependencies);
    const sources = Object.fromEntries(entries.map(([key, from]) => [key, from.map(see)]));
    const resource = { type, urn, props: fields(copy(props)), opts, sources };
    seen.set(urn, resource);
    return resource;
  };
  return resources.map(see);
}

/** The resources of one type. */
export function ofType<Seen extends Resource>(resources: readonly Seen[], type: string): Seen[] {
  return resources.filter((resource) => resource.type === type);
}
