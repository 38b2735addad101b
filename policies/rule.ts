import type {
  EnforcementLevel,
  PolicyConfigSchema,
  ResourceValidationPolicy,
  Severity,
  StackValidationPolicy,
} from "@pulumi/policy";
import { type Resource, seenResource, seenStack, type StackResource } from "./reading/resource.ts";
import type { Fields } from "./reading/values.ts";

/** Subject of a rule. */
type Topic = "access" | "host" | "migrations" | "production" | "secrets" | "state" | "supply";

/** Members of every rule. */
interface RuleText {
  name: string;
  /** Statement that holds where the rule passes. */
  description: string;
  severity: Severity;
  topics: readonly Topic[];
  /** Default: mandatory. A policy configuration can set another one. */
  level?: EnforcementLevel;
  configSchema?: PolicyConfigSchema;
}

/** A rule about one resource. */
export interface ResourceRule extends RuleText {
  /** The types that it looks at. Default: all. */
  types?: readonly string[];
  /** Everything that is wrong with the resource, each with its fix. */
  check(resource: Resource, config: Fields): string[];
}

/** Violation of a rule by a stack, and the resource it is about. */
export interface Violation {
  message: string;
  urn?: string;
}

/** A rule about what resources are to one another. */
export interface StackRule extends RuleText {
  check(resources: readonly StackResource[], config: Fields): Violation[];
}

/** A rule in the form that the engine takes. */
export type Rule = ResourceValidationPolicy | StackValidationPolicy;

/** Makes a rule about one resource. */
export function resourceRule({ types, check, ...rest }: ResourceRule): ResourceValidationPolicy {
  return {
    ...texts(rest),
    validateResource: (args, reportViolation) => {
      if (types !== undefined && !types.includes(args.type)) return;
      for (const message of check(seenResource(args), args.getConfig())) reportViolation(message);
    },
  };
}

/** Makes a rule about the stack as a whole. */
export function stackRule({ check, ...rest }: StackRule): StackValidationPolicy {
  return {
    ...texts(rest),
    validateStack: ({ resources, getConfig }, reportViolation) => {
      for (const { message, urn } of check(seenStack(resources), getConfig())) reportViolation(message, urn);
    },
  };
}

function texts({ topics, level = "mandatory", ...rest }: RuleText) {
  return { ...rest, enforcementLevel: level, tags: [...topics] };
}
