import type {
  EnforcementLevel,
  PolicyConfigSchema,
  ResourceValidationPolicy,
  Severity,
  StackValidationPolicy,
} from "@pulumi/policy";
import { type Resource, seenResource, seenStack, type StackResource } from "./reading/resource.ts";
import type { Fields } from "./reading/values.ts";

type Topic = "access" | "host" | "migrations" | "production" | "secrets" | "state" | "supply";

interface RuleText {
  name: string;
  /** Requirement, phrased as a statement about a valid stack. */
  description: string;
  severity: Severity;
  topics: readonly Topic[];
  /** Enforcement level, which the policy configuration can override. Default: mandatory. */
  level?: EnforcementLevel;
  configSchema?: PolicyConfigSchema;
}

type OneOf<Type extends string> = { [One in Type]: Resource<One> }[Type];

export interface ResourceRule<Type extends string> extends RuleText {
  /** Resource types to check. Default: all. */
  types?: readonly Type[];
  /** Returns one message per problem. Each message includes the fix. */
  check(resource: OneOf<Type>, config: Fields): string[];
}

export interface Violation {
  message: string;
  urn?: string;
}

/** A rule about relations between resources. */
export interface StackRule extends RuleText {
  check(resources: readonly StackResource[], config: Fields): Violation[];
}

export type Rule = ResourceValidationPolicy | StackValidationPolicy;

export function resourceRule<Type extends string = string>({
  types,
  check,
  ...rest
}: ResourceRule<Type>): ResourceValidationPolicy {
  return {
    ...ruleTexts(rest),
    validateResource: (args, reportViolation) => {
      if (types !== undefined && !types.some((type) => type === args.type)) return;
      const resource = seenResource(args) as OneOf<Type>;
      for (const message of check(resource, args.getConfig())) reportViolation(message);
    },
  };
}

export function stackRule({ check, ...rest }: StackRule): StackValidationPolicy {
  return {
    ...ruleTexts(rest),
    validateStack: ({ resources, getConfig }, reportViolation) => {
      for (const { message, urn } of check(seenStack(resources), getConfig())) reportViolation(message, urn);
    },
  };
}

function ruleTexts({ topics, level = "mandatory", ...rest }: RuleText) {
  return { ...rest, enforcementLevel: level, tags: [...topics] };
}
