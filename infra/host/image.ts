import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { AGENT } from "../../runtime/contract/names.ts";

/** What an image is built from. */
export interface ImageBuild {
  /** The folder whose content goes in. */
  context: string;
  dockerfile: string;
  /** Hash of the folder's content: the image is named by it. */
  hash: string;
  /** The Dockerfile's arguments: the image that it starts from, which the engine has, and what it says of itself. */
  buildArgs: Readonly<Record<string, string>>;
}

/** Arguments of {@link Image}. */
export interface ImageArgs {
  /** A built image's name, or what to build one from. */
  source: string | ImageBuild;
}

/** The image that the container runs, on the engine that the provider speaks to. */
export class Image extends pulumi.ComponentResource {
  /** The image's own id, which changes with its content. */
  readonly imageId: pulumi.Output<string>;

  constructor(name: string, args: ImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:host:Image", name, {}, opts);

    const image = new docker.RemoteImage(name, imageArgs(args), { parent: this });

    this.imageId = image.imageId;
    this.registerOutputs({ imageId: this.imageId });
  }
}

function imageArgs({ source }: ImageArgs): docker.RemoteImageArgs {
  // An image that someone else put there stays when the stack goes.
  if (typeof source === "string") return { name: source, keepLocally: true };
  const { context, dockerfile, hash, buildArgs } = source;
  return {
    name: `${AGENT}:${hash}`,
    // A replacement of the same name, such as from another checkout's path, must not take the image from
    // under the container that runs it.
    keepLocally: true,
    // The other builder takes the engine that the docker command is set to, not the provider's.
    build: { context, dockerfile, buildArgs, useLegacyBuilder: true },
    triggers: { content: hash, ...buildArgs },
  };
}
