import type { PolicyConfigSchema } from "@pulumi/policy";
import type { Resource } from "./resource.ts";
import type { Fields } from "./values.ts";

const DEFAULT_STACKS = "^prod";

/** Configuration schema of a rule that applies only in production. */
export const PRODUCTION_SCHEMA = {
  stacks: {
    type: "string",
    description: "Pattern of the stack names to which the rule applies.",
    default: DEFAULT_STACKS,
  },
} as const satisfies PolicyConfigSchema["properties"];

export function isInProduction({ urn }: Pick<Resource, "urn">, config: Fields): boolean {
  const stack = urn.split("::")[0]?.split(":").at(-1) ?? "";
  const pattern = config["stacks"];
  return new RegExp(typeof pattern === "string" ? pattern : DEFAULT_STACKS).test(stack);
}
