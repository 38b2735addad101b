import * as pulumi from "@pulumi/pulumi";
import { readBuildRecord } from "../bundle/released.ts";
import { verifiedImage } from "../registry/verified.ts";
import { BUILD, type GatewayArgs } from "./args.ts";
import { UNKNOWN_IN_PREVIEW, whenKnown } from "./check.ts";
import { throwExplained } from "./gate.ts";

export interface GatewayImage {
  /**
   * Image name, including the digest if the image's signature was verified; `undefined` if this stack builds the
   * image instead of using an existing image.
   */
  name: pulumi.Output<string> | undefined;
  /**
   * Name of the image, known once any signature verification has passed. UNKNOWN_IN_PREVIEW if a preview cannot know
   * the name; `undefined` if this stack builds the image instead of using an existing image.
   */
  checked: Promise<string | typeof UNKNOWN_IN_PREVIEW | undefined>;
  /** True for this package's own image, whether built locally or published. */
  isOwn: boolean;
}

/**
 * Returns the image for a gateway's arguments.
 *
 * @param valid resolves once the arguments are valid; only then is the signature verified
 */
export function gatewayImage(
  { image, imagePublicKey }: Pick<GatewayArgs, "image" | "imagePublicKey">,
  valid: Promise<void>,
): GatewayImage {
  const { image: published, container: bundle } = readBuildRecord() ?? {};
  if (image === BUILD || (image === undefined && published === undefined)) {
    return { name: undefined, checked: Promise.resolve(undefined), isOwn: true };
  }
  const find = (): Promise<string | typeof UNKNOWN_IN_PREVIEW> =>
    image === undefined && published !== undefined
      ? verifiedImage({ image: published.name, signer: published.signer, bundle })
      : signed(image, imagePublicKey);
  const checked = valid.then(find).catch(throwExplained);
  const name = pulumi.output<string>(
    checked.then((found) => (found === UNKNOWN_IN_PREVIEW ? image : found) as string),
  );
  return { name, checked, isOwn: image === undefined };
}

async function signed(
  image: GatewayArgs["image"],
  key: GatewayArgs["imagePublicKey"],
): Promise<string | typeof UNKNOWN_IN_PREVIEW> {
  const [name, publicKey] = await Promise.all([whenKnown(image ?? ""), key && whenKnown(key)]);
  if (name === UNKNOWN_IN_PREVIEW || publicKey === UNKNOWN_IN_PREVIEW) return UNKNOWN_IN_PREVIEW;
  return publicKey === undefined ? name : verifiedImage({ image: name, signer: { publicKey } });
}
