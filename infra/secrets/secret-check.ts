import * as pulumi from "@pulumi/pulumi";
import { secretCheckProvider } from "./secret-check-provider.ts";
import type { TriedVariable } from "./trial.ts";

/** Arguments of {@link SecretCheck}. */
export interface SecretCheckArgs {
  variable: TriedVariable;
  /** A Pulumi secret. */
  value: pulumi.Output<string>;
}

/** A secret that its platform has taken. It stands for nothing there: it keeps which value was tried. */
export class SecretCheck extends pulumi.dynamic.Resource {
  constructor(name: string, args: SecretCheckArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["value"] };
    super(secretCheckProvider, name, { ...args }, secret, "secrets", "SecretCheck");
  }
}
