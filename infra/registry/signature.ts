import { createPublicKey } from "node:crypto";
import { type Bundle, bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import * as z from "zod";
import { parseJson } from "../../runtime/shared/json.ts";

/** Sigstore's certificate authorities and logs. */
export type TrustedRoot = Parameters<typeof toTrustMaterial>[0];

/** Media type of a cosign 3 signature: https://docs.sigstore.dev/about/bundle/ */
export const SIGNATURE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";

/** Name of the signature annotation whose value is the hash of the image's code. */
export const BUNDLE_ANNOTATION = "steward.bundle";

/** Either a key, or an identity certified by Sigstore's public authority. */
export const signerSchema = z.union([
  z.strictObject({ publicKey: z.string() }),
  z.strictObject({
    /** URL of the signing workflow, including the tag that triggered the workflow. */
    identity: z.string(),
    issuer: z.string(),
  }),
]);
export type Signer = z.infer<typeof signerSchema>;

/** https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
const statementSchema = z.object({
  predicateType: z.literal("https://sigstore.dev/cosign/sign/v1"),
  subject: z.array(
    z.object({
      digest: z.object({ sha256: z.string() }),
      annotations: z.record(z.string(), z.string()).default({}),
    }),
  ),
});

/** The statement that a signature must contain. */
interface Claim {
  /** Digest of the image, as `sha256:…`. */
  digest: string;
  /** Expected hash of the image's code. Default: any hash. */
  bundle?: string | undefined;
}

/** Returns the reason to reject a signature; `undefined` if it is valid. */
export type Verify = (signature: Uint8Array, claim: Claim) => string | undefined;

/**
 * Returns a function that checks signatures against a signer.
 *
 * @param authorities Returns Sigstore's root of trust. Not called if the signer is a key.
 */
export async function verifierOf(signer: Signer, authorities: () => Promise<TrustedRoot>): Promise<Verify> {
  const isGenuine = "publicKey" in signer ? byKey(signer) : byIdentity(signer, await authorities());
  return (signature, claim) => {
    try {
      const bundle = bundleFromJSON(JSON.parse(Buffer.from(signature).toString()));
      isGenuine(bundle);
      return mismatchOf(bundle, claim);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}

/** Thresholds for signatures made with a key. Such signatures need no transparency log, timestamp or certificate. */
const ALONE = { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 };

function byKey({ publicKey }: { publicKey: string }): (bundle: Bundle) => void {
  const key = { publicKey: createPublicKey(publicKey), validFor: () => true };
  const none = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
  const verifier = new Verifier({ ...none, publicKey: () => key }, ALONE);
  return (bundle) => {
    if (bundle.verificationMaterial.content.$case !== "publicKey")
      throw new Error("it was made without a key");
    // Leave out log entries and timestamps, which cannot be verified without Sigstore's root of trust.
    const { signature, key: used } = toSignedEntity(bundle);
    verifier.verify({ signature, key: used, tlogEntries: [], timestamps: [] });
  };
}

function byIdentity(
  { identity, issuer }: { identity: string; issuer: string },
  root: TrustedRoot,
): (bundle: Bundle) => void {
  const verifier = new Verifier(toTrustMaterial(root));
  // The library expects a regular expression, so escape the identity.
  const exactly = `^${identity.replaceAll(/[^\w/:-]/g, String.raw`\$&`)}$`;
  const policy = { subjectAlternativeName: exactly, extensions: { issuer } };
  return (bundle) => void verifier.verify(toSignedEntity(bundle), policy);
}

/** Returns the reason why a valid signature does not match the claim; `undefined` if it matches. */
function mismatchOf({ content }: Bundle, { digest, bundle }: Claim): string | undefined {
  const payload = content.$case === "dsseEnvelope" ? content.dsseEnvelope.payload.toString() : "";
  const statement = statementSchema.safeParse(parseJson(payload)).data;
  const subject = statement?.subject.find(({ digest: { sha256 } }) => `sha256:${sha256}` === digest);
  if (subject === undefined) return "it belongs to another image";
  if (bundle === undefined || subject.annotations[BUNDLE_ANNOTATION] === bundle) return undefined;
  return `it is of an image with the code ${subject.annotations[BUNDLE_ANNOTATION]}, not ${bundle}`;
}
