import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";

/** Arguments of {@link Volume}. */
export interface VolumeArgs {
  volumeName: string;
  /** Refuse to delete the volume, and keep it when the stack goes. Default: false. */
  protect?: boolean;
}

/** The named volume that keeps the service's data over restarts and updates. */
export class Volume extends pulumi.ComponentResource {
  readonly volumeName: pulumi.Output<string>;

  constructor(name: string, args: VolumeArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:host:Volume", name, {}, opts);
    const keep = args.protect ?? false;

    const volume = new docker.Volume(
      name,
      { name: args.volumeName },
      { parent: this, protect: keep, retainOnDelete: keep },
    );

    this.volumeName = volume.name;
    this.registerOutputs({ volumeName: this.volumeName });
  }
}
