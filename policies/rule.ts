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

/** A resource of one of these types: its type tells which properties it has. */
type OneOf<Type extends string> = { [One in Type]: Resource<One> }[Type];

/** A rule about one resource. */
export interface ResourceRule<Type extends string> extends RuleText {
  /** The types that it looks at. Default: all. */
  types?: readonly Type[];
  /** Everything that is wrong with the resource, each with its fix. */
  check(resource: OneOf<Type>, config: Fields): string[];
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

/** Makes a rule about the stack as a whole. */
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
