import * as pulumi from "@pulumi/pulumi";
import { attest } from "../../runtime/contract/attestation.ts";
import { attestationKeyProvider } from "./attestation-key-provider.ts";

/** The key under which a deployment attests which secrets it runs with. Nobody chooses it, and it stays the same. */
export class AttestationKey extends pulumi.dynamic.Resource {
  /** A Pulumi secret. */
  declare readonly key: pulumi.Output<string>;

  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["key"] };
    super(attestationKeyProvider, name, { key: undefined }, secret, "secrets", "AttestationKey");
  }

  /** What a service that runs with these secrets answers. No secret: without the key it says nothing. */
  expected(secrets: Readonly<Record<string, pulumi.Output<string>>>): pulumi.Output<string> {
    const attested = pulumi
      .all([this.key, pulumi.all(secrets)])
      // A destroy that runs the program has no key once that is gone.
      .apply(async ([key, values]) => (key ? (await attest(key, values)).all : ""));
    return pulumi.unsecret(attested);
  }
}
