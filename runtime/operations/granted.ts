import * as z from "zod/mini";
import type { GrantedRole } from "../contract/config/rights.ts";
import { AGENT } from "../contract/names.ts";

/** Not the list of the config's schema, which a command and a Worker's start do not load. */
const ROLES = ["person", "operator"] as const satisfies GrantedRole[];

/** A role that an approval can grant. */
export const roleSchema = () => z.enum(ROLES);

/** Returns what an approval has granted, and the command that grants the other role. */
export function grantedText(role: GrantedRole, command: readonly string[]): string {
  const [now, other, next]: [string, string, GrantedRole] =
    role === "person"
      ? ["a person's", "an operator's", "operator"]
      : ["an operator's", "a person's", "person"];
  return `Granted ${now} rights. For ${other}: ${[AGENT, ...command, next].join(" ")}`;
}
