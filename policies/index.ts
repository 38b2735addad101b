import { PolicyPack } from "@pulumi/policy";
import { noDmPolicy } from "./rules/no-dm-policy.ts";
import { secretsStaySecret } from "./rules/secrets-stay-secret.ts";

// Constructing a pack starts its server: nothing but the policy host loads this file.
export const pack = new PolicyPack("steward", { policies: [secretsStaySecret, noDmPolicy] });
