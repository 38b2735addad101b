import { flushCompileCache } from "node:module";
import { PolicyPack } from "@pulumi/policy";
import { stewardPolicies } from "./rules.ts";

// Constructing a pack starts its server, so only Pulumi's policy host may load this file.
export const pack = new PolicyPack("steward", { policies: [...stewardPolicies] });
// Save Node's compile cache now. The engine ends this process with a signal, and Node saves the cache only at a normal
// exit.
flushCompileCache();
