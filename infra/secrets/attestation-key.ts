import * as pulumi from "@pulumi/pulumi";
import { attest } from "../../runtime/contract/attestation.ts";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";

/** Provider of {@link AttestationKey}. Generates the key once and stores it as a secret in the state. */
export const attestationKeyProvider: ResourceProvider<object, { key: string }> = {
  async diff() {
    return { changes: false };
  },

  async create() {
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
    return { id: "attestation-key", outs: { key } };
  },
};

/** A random, permanent key that a deployment uses to prove which secrets it is running with. */
export class AttestationKey extends OwnResource {
  /** A Pulumi secret. */
  declare readonly key: pulumi.Output<string>;

  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["key"] };
    super("secrets:AttestationKey", name, { key: undefined }, secret);
  }

  /**
   * Returns the attestation expected from a service with this environment. Needs `variables`, because one of them
   * lists the operator's custom secrets.
   */
  expected({ variables, secrets }: AttestedEnvironment): pulumi.Output<string> {
    const attested = pulumi
      .all([this.key, pulumi.all(variables), pulumi.all(secrets)])
      // During a destroy that runs the program, the key may already be deleted.
      .apply(async ([key, plain, hidden]) => (key ? (await attest(key, { ...plain, ...hidden })).all : ""));
    return pulumi.unsecret(attested);
  }
}

interface AttestedEnvironment {
  variables: Readonly<Record<string, pulumi.Input<string>>>;
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
}
