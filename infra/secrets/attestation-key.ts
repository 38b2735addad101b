import * as pulumi from "@pulumi/pulumi";
import { attest } from "../../runtime/contract/attestation.ts";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";

/** The provider of `AttestationKey`: the key is made once and kept, as a secret, in the stack's state. */
export const attestationKeyProvider: ResourceProvider<object, { key: string }> = {
  async diff() {
    return { changes: false };
  },

  async create() {
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
    return { id: "attestation-key", outs: { key } };
  },
};

/** The key under which a deployment attests which secrets it runs with. Nobody chooses it, and it stays the same. */
export class AttestationKey extends OwnResource {
  /** A Pulumi secret. */
  declare readonly key: pulumi.Output<string>;

  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["key"] };
    super("secrets:AttestationKey", name, { key: undefined }, secret);
  }

  /**
   * Returns what a service with this environment attests. The variables belong to it: they name the operator's own
   * secrets. No secret itself, since it says nothing without the key.
   */
  expected({ variables, secrets }: AttestedEnvironment): pulumi.Output<string> {
    const attested = pulumi
      .all([this.key, pulumi.all(variables), pulumi.all(secrets)])
      // A destroy that runs the program has no key once that is gone.
      .apply(async ([key, plain, hidden]) => (key ? (await attest(key, { ...plain, ...hidden })).all : ""));
    return pulumi.unsecret(attested);
  }
}

/** The environment that a stack deploys, its secrets apart. */
interface AttestedEnvironment {
  variables: Readonly<Record<string, pulumi.Input<string>>>;
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
}
