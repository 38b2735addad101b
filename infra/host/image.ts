import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { AGENT } from "../../runtime/contract/names.ts";

export interface ImageBuild {
  /** Directory with the build context. */
  context: pulumi.Input<string>;
  dockerfile: string;
  /** Hash of the build context, used as the image's tag. */
  hash: pulumi.Input<string>;
  /** Dockerfile arguments: the base image, which must already be on the engine, and the image's label values. */
  buildArgs: pulumi.Input<Record<string, string>>;
}

interface ImageArgs {
  /** Name of an existing image, which is pulled, or the inputs of a build. */
  source: { name: pulumi.Input<string> } | ImageBuild;
  /** Counter. A new value causes a new build or pull of the image. */
  round?: pulumi.Input<number>;
}

/**
 * The container's image on the provider's Docker engine. A named image is pulled if the engine does not have it. A built
 * image is rebuilt if the hash of its build context or a build argument changes.
 */
export class Image extends pulumi.ComponentResource {
  /** Content-dependent image id. */
  readonly imageId: pulumi.Output<string>;

  constructor(name: string, args: ImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:host:Image", name, {}, opts);

    const { round: replacementTrigger } = args;
    const options = { parent: this, ...(replacementTrigger !== undefined && { replacementTrigger }) };
    const image = new docker.RemoteImage(name, imageArgs(args), options);

    this.imageId = image.imageId;
    this.registerOutputs({ imageId: this.imageId });
  }
}

export function imageName({ hash }: Pick<ImageBuild, "hash">): pulumi.Output<string> {
  return pulumi.interpolate`${AGENT}:${hash}`;
}

function imageArgs({ source }: ImageArgs): docker.RemoteImageArgs {
  // Destroying the stack keeps an image that the stack did not build.
  if ("name" in source) return { name: source.name, keepLocally: true };
  const { context, dockerfile, hash, buildArgs } = source;
  return {
    name: imageName(source),
    // A replacement may reuse the image name. Deleting the old resource must not remove the running container's
    // image.
    keepLocally: true,
    // The default builder would use the `docker` command's engine and not the provider's.
    build: { context, dockerfile, buildArgs, useLegacyBuilder: true },
    triggers: pulumi.all([hash, buildArgs]).apply(([content, given]) => ({ content, ...given })),
  };
}
