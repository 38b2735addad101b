import { flushCompileCache } from "node:module";
import { PolicyPack } from "@pulumi/policy";
import { stewardPolicies } from "./rules.ts";

// Constructing a pack starts its server: nothing but the policy host loads this file.
export const pack = new PolicyPack("steward", { policies: [...stewardPolicies] });
// The engine ends this process by a signal, after which Node would not write what it has compiled.
flushCompileCache();
