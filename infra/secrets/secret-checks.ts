import * as pulumi from "@pulumi/pulumi";
import { secretCheckProvider } from "./secret-check-provider.ts";
import { TRIALS, type TriedVariable } from "./trial.ts";

/** Arguments of {@link SecretChecks}. */
export interface SecretChecksArgs {
  /** Values that are about to be deployed, by variable. The values have to be Pulumi secrets. */
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
}

/**
 * Every secret that can be tried, tried at its platform. What is deployed with the secrets depends on it: then a
 * wrong value fails the update while the one before still serves.
 */
export class SecretChecks extends pulumi.ComponentResource {
  constructor(name: string, args: SecretChecksArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:secrets:SecretChecks", name, {}, opts);

    const checks = Object.entries(args.secrets).flatMap(([variable, value]) =>
      isTried(variable)
        ? [new SecretCheck(`${name}-${nameOf(variable)}`, { variable, value }, { parent: this })]
        : [],
    );

    this.registerOutputs({ tried: checks.map(({ id }) => id) });
  }
}

function isTried(variable: string): variable is TriedVariable {
  return Object.hasOwn(TRIALS, variable);
}

function nameOf(variable: TriedVariable): string {
  return variable.toLowerCase().replaceAll("_", "-");
}

/** Arguments of {@link SecretCheck}. */
interface SecretCheckArgs {
  variable: TriedVariable;
  /** A Pulumi secret. */
  value: pulumi.Output<string>;
}

/** A secret that its platform has taken. It stands for nothing there: it keeps which value was tried. */
class SecretCheck extends pulumi.dynamic.Resource {
  constructor(name: string, args: SecretCheckArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["value"] };
    super(secretCheckProvider, name, { ...args }, secret, "secrets", "SecretCheck");
  }
}
