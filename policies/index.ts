import { flushCompileCache } from "node:module";
import { PolicyPack } from "@pulumi/policy";
import { stewardPolicies } from "./rules.ts";

// Constructing a pack starts its server, so only the policy host may load this file.
export const pack = new PolicyPack("steward", { policies: [...stewardPolicies] });
// The engine ends this process with a signal, after which Node would not save its compile cache.
flushCompileCache();
