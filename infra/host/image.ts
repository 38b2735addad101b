import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { AGENT } from "../../runtime/contract/names.ts";

/** Dependencies of an image. */
export interface ImageBuild {
  /** Folder with the build context. */
  context: pulumi.Input<string>;
  dockerfile: string;
  /** Hash of the folder's content, which becomes the image's tag. */
  hash: pulumi.Input<string>;
  /**
   * The Dockerfile's build arguments: the base image, which the engine already has, and the values of the image's
   * labels.
   */
  buildArgs: pulumi.Input<Record<string, string>>;
}

/** Arguments of {@link Image}. */
interface ImageArgs {
  /** The name of an image that is already built, or the inputs to build one. */
  source: { name: pulumi.Input<string> } | ImageBuild;
  /** A change of this number builds or pulls the image again. Default: no such trigger. */
  round?: pulumi.Input<number>;
}

/** The image that the container runs, on the engine that the provider uses. */
export class Image extends pulumi.ComponentResource {
  /** The image's own id, which changes with its content. */
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

/** Returns the name that a built image gets. */
export function imageName({ hash }: Pick<ImageBuild, "hash">): pulumi.Output<string> {
  return pulumi.interpolate`${AGENT}:${hash}`;
}

function imageArgs({ source }: ImageArgs): docker.RemoteImageArgs {
  // Destroying the stack does not delete an image that the stack has not built.
  if ("name" in source) return { name: source.name, keepLocally: true };
  const { context, dockerfile, hash, buildArgs } = source;
  return {
    name: imageName(source),
    // A replacement may have the same image name, for example after a deployment from another checkout's path. Deleting
    // the old resource must then not remove the image of the running container.
    keepLocally: true,
    // The default builder would use the engine that the docker command is set to, not the provider's.
    build: { context, dockerfile, buildArgs, useLegacyBuilder: true },
    triggers: pulumi.all([hash, buildArgs]).apply(([content, given]) => ({ content, ...given })),
  };
}
