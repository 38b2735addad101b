import type { dynamic } from "@pulumi/pulumi";

/** The dynamic provider of `AttestationKey`: the key is made once and kept, as a secret, in the stack's state. */
export const attestationKeyProvider: dynamic.ResourceProvider<object, { key: string }> = {
  async diff() {
    return { changes: false };
  },

  async create() {
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
    return { id: "attestation-key", outs: { key } };
  },
};
