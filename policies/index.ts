import { PolicyPack } from "@pulumi/policy";
import { RULES } from "./rules.ts";

// Constructing a pack starts its server: nothing but the policy host loads this file.
export const pack = new PolicyPack("steward", { policies: [...RULES] });
