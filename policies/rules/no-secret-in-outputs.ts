import { createRedactor } from "../../runtime/shared/redact.ts";
import { stackRule } from "../rule.ts";
import { resourcesOfType, TYPES } from "../reading/resource.ts";
import { allTexts } from "../reading/values.ts";
import { handedVariables, isSecretName } from "../reading/variables.ts";

/** Forbids stack outputs that contain secrets. Every update prints the outputs, and other stacks can read them. */
export const noSecretInOutputs = stackRule({
  name: "no-secret-in-outputs",
  description: "No output of the stack holds a secret.",
  severity: "critical",
  topics: ["secrets"],
  check(resources) {
    const secrets = resources.flatMap(handedVariables).filter(({ name }) => isSecretName(name));
    const values = secrets.flatMap(({ value }) => value ?? []);
    const redact = createRedactor({}, values);
    return resourcesOfType(resources, TYPES.stack).flatMap(({ urn, props }) =>
      Object.entries(props)
        .filter(([, value]) => allTexts(value).some((text) => redact(text) !== text))
        .map(([output]) => ({
          urn,
          message: `The output ${output} holds a secret. Remove it from the stack's outputs, and replace the secret where it was issued.`,
        })),
    );
  },
});
