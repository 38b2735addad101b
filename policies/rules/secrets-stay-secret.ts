import { createRedactor } from "../../runtime/shared/redact.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { HANDING, handedVariables, isSecretName, type HandedVariable } from "../reading/variables.ts";

const redact = createRedactor({});

/**
 * Requires secret bindings for secret variables. A plain binding shows the value in the cloud's dashboard and in the
 * stack's state.
 */
export const secretsStaySecret = resourceRule({
  name: "secrets-stay-secret",
  description: "Secrets reach the runtime only as secrets.",
  severity: "critical",
  topics: ["secrets"],
  types: HANDING,
  check(resource) {
    const plain = handedVariables(resource).filter((variable) => !variable.hidden && isSecret(variable));
    return plain.map(({ name }) =>
      resource.type === TYPES.container
        ? `${name} is a secret, and the container's envs are stored unencrypted. Add "envs" to additionalSecretOutputs.`
        : `${name} is a secret but bound as plain_text. Bind it as secret_text.`,
    );
  },
});

function isSecret({ name, value }: HandedVariable): boolean {
  return isSecretName(name) || (value !== undefined && redact(value) !== value);
}
