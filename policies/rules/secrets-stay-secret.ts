import type { ResourceValidationPolicy } from "@pulumi/policy";
import { VARIABLES } from "../../runtime/contract/environment.ts";
import { handedVariables } from "./variables.ts";

/**
 * Secrets reach the runtime only as secrets.
 *
 * Severity: high. A token in a plain binding shows in the cloud's dashboard and in the stack's state.
 * Fix: a Worker's binding of the type `secret_text`; for a container, `additionalSecretOutputs: ["envs"]`.
 */
export const secretsStaySecret: ResourceValidationPolicy = {
  name: "secrets-stay-secret",
  description: "Secrets reach the runtime only as secrets.",
  enforcementLevel: "mandatory",
  validateResource: (resource, reportViolation) => {
    for (const { name, hidden } of handedVariables(resource)) {
      if (!isSecret(name) || hidden) continue;
      reportViolation(
        resource.type.startsWith("cloudflare:")
          ? `${name} is a secret but bound as plain_text. Bind it as secret_text.`
          : `${name} is a secret, and the container's envs are stored in plain. Add "envs" to additionalSecretOutputs.`,
      );
    }
  },
};

function isSecret(name: string): boolean {
  return Object.entries(VARIABLES).some(([known, { secret }]) => known === name && secret);
}
