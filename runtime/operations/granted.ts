import * as z from "zod/mini";
import type { GrantedRole } from "../contract/config/rights.ts";
import { AGENT } from "../contract/names.ts";

/** Copy of the roles in the config's schema, which is too large to load in every command and Worker. */
const ROLES = ["person", "operator"] as const satisfies GrantedRole[];

export const roleSchema = () => z.enum(ROLES);

/** Describes the granted role, with the command that switches between `person` and `operator`. */
export function grantedText(role: GrantedRole, command: readonly string[]): string {
  const [now, other, next]: [string, string, GrantedRole] =
    role === "person"
      ? ["a person's", "an operator's", "operator"]
      : ["an operator's", "a person's", "person"];
  return `Granted ${now} rights. For ${other}: ${[AGENT, ...command, next].join(" ")}`;
}
