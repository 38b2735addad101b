import type * as cloudflare from "@pulumi/cloudflare";
import type * as docker from "@pulumi/docker";
import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";
import type { OutputInstance } from "@pulumi/pulumi";
import { commandsOfStack, type OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { copyKnown, type DeclaredFields, fields, type Fields } from "./values.ts";

export const TYPES = {
  stack: "pulumi:pulumi:Stack",
  worker: "cloudflare:index/worker:Worker",
  workerVersion: "cloudflare:index/workerVersion:WorkerVersion",
  workersDomain: "cloudflare:index/workersCustomDomain:WorkersCustomDomain",
  accessApplication: "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication",
  accessPolicy: "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy",
  bucket: "steward:serverless:StateBucket",
  bucketDomain: "cloudflare:index/r2CustomDomain:R2CustomDomain",
  bucketManagedDomain: "cloudflare:index/r2ManagedDomain:R2ManagedDomain",
  bucketLifecycle: "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle",
  migrations: "steward:serverless:Migrations",
  containerApplication: "steward:serverless:ContainerApplication",
  container: "docker:index/container:Container",
  image: "docker:index/remoteImage:RemoteImage",
  volume: "docker:index/volume:Volume",
  command: "command:local:Command",
} as const;

interface Classes {
  [TYPES.worker]: cloudflare.Worker;
  [TYPES.workerVersion]: cloudflare.WorkerVersion;
  [TYPES.workersDomain]: cloudflare.WorkersCustomDomain;
  [TYPES.accessApplication]: cloudflare.ZeroTrustAccessApplication;
  [TYPES.accessPolicy]: cloudflare.ZeroTrustAccessPolicy;
  [TYPES.bucketDomain]: cloudflare.R2CustomDomain;
  [TYPES.bucketManagedDomain]: cloudflare.R2ManagedDomain;
  [TYPES.bucketLifecycle]: cloudflare.R2BucketLifecycle;
  [TYPES.container]: docker.Container;
  [TYPES.image]: docker.RemoteImage;
  [TYPES.volume]: docker.Volume;
}

type Unwrapped<Class> = {
  [Key in keyof Class]: Class[Key] extends OutputInstance<infer Value> ? Value : never;
};

/** Properties of a resource type; untyped if `Classes` does not list the type. */
export type Props<Type extends string> = Type extends keyof Classes
  ? DeclaredFields<Unwrapped<Classes[Type]>>
  : Fields;

/**
 * A resource as rules see it. A rule about a single resource sees the resource's inputs; a rule about the whole stack
 * sees each resource's outputs.
 */
export interface Resource<Type extends string = string> {
  type: Type;
  urn: string;
  props: Props<Type>;
  opts: Pick<ResourceValidationArgs["opts"], "additionalSecretOutputs" | "protect">;
}

export interface StackResource<Type extends string = string> extends Resource<Type> {
  /** Resources that a property's value depends on, by property name. */
  sources: Readonly<Record<string, readonly StackResource[]>>;
}

export function seenResource({ type, urn, props, opts }: ResourceValidationArgs): Resource {
  return { type, urn, props: fields(copyKnown(props)), opts };
}

export function seenStack(resources: readonly PolicyResource[]): StackResource[] {
  const seen = new Map<string, StackResource>();
  const see = ({ type, urn, props, opts, propertyDependencies }: PolicyResource): StackResource => {
    const known = seen.get(urn);
    if (known !== undefined) return known;
    const entries = Object.entries(propertyDependencies);
    const sources = Object.fromEntries(entries.map(([key, from]) => [key, from.map(see)]));
    const resource = { type, urn, props: fields(copyKnown(props)), opts, sources };
    seen.set(urn, resource);
    return resource;
  };
  return resources.map(see);
}

/** Returns operator commands for the stack named in the resource's URN, `urn:pulumi:<stack>::…`. */
export function commandsForResource({ urn }: Resource): OperatorCommands {
  return commandsOfStack(urn.split("::", 1)[0]?.split(":")[2]);
}

export function isOfType<Type extends string>(resource: Resource, type: Type): resource is Resource<Type> {
  return resource.type === type;
}

export function resourcesOfType<Type extends string>(
  resources: readonly StackResource[],
  type: Type,
): StackResource<Type>[] {
  return resources.filter((resource): resource is StackResource<Type> => resource.type === type);
}

export function hasDigest(image: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(image);
}
