import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";
import { copy, fields, type Fields } from "./values.ts";

/** The types that the rules look at, as the engine names them. */
export const TYPES = {
  stack: "pulumi:pulumi:Stack",
  worker: "cloudflare:index/worker:Worker",
  workerVersion: "cloudflare:index/workerVersion:WorkerVersion",
  workersDeployment: "cloudflare:index/workersDeployment:WorkersDeployment",
  workersDomain: "cloudflare:index/workersCustomDomain:WorkersCustomDomain",
  accessApplication: "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication",
  accessPolicy: "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy",
  bucket: "cloudflare:index/r2Bucket:R2Bucket",
  bucketDomain: "cloudflare:index/r2CustomDomain:R2CustomDomain",
  bucketManagedDomain: "cloudflare:index/r2ManagedDomain:R2ManagedDomain",
  bucketLifecycle: "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle",
  containerApplication: "pulumi-nodejs:dynamic/serverless:ContainerApplication",
  container: "docker:index/container:Container",
  image: "docker:index/remoteImage:RemoteImage",
  volume: "docker:index/volume:Volume",
  command: "command:local:Command",
} as const;

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

/** Returns what the engine hands to a rule about one resource. */
export function seenResource({ type, urn, props, opts }: ResourceValidationArgs): Resource {
  return { type, urn, props: fields(copy(props)), opts };
}

/** Returns what the engine hands to a rule about the stack. */
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

/** Tells whether an image's name says its content. */
export function hasDigest(image: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(image);
}
