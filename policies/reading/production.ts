import type { PolicyConfigSchema } from "@pulumi/policy";
import type { Resource } from "./resource.ts";
import type { Fields } from "./values.ts";

const DEFAULT_STACKS = "^prod";

/** The configuration of a rule that holds in production alone. */
export const PRODUCTION_SCHEMA = {
  stacks: {
    type: "string",
    description: "A pattern of the names of the stacks that it holds for.",
    default: DEFAULT_STACKS,
  },
} as const satisfies PolicyConfigSchema["properties"];

/** Tells whether a resource belongs to a stack of production: the stack's name says so. */
export function isInProduction({ urn }: Pick<Resource, "urn">, config: Fields): boolean {
  const stack = urn.split("::")[0]?.split(":").at(-1) ?? "";
  const pattern = config["stacks"];
  return new RegExp(typeof pattern === "string" ? pattern : DEFAULT_STACKS).test(stack);
}
