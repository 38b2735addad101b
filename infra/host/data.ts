import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { runBeforeCreate, OWNER_LABEL, stackOwner } from "./names.ts";

/** Location of the data: a named volume, or a directory of the host that the stack neither creates nor deletes. */
export type DataPlace = { volumeName: pulumi.Input<string> } | { directory: string };

interface VolumeArgs {
  volumeName: pulumi.Input<string>;
  /** True to protect the volume from deletion and to retain it after a destroy. Default: false. */
  protect?: boolean;
  hooks?: pulumi.ResourceHook[];
}

export class Volume extends pulumi.ComponentResource {
  readonly volumeName: pulumi.Output<string>;

  constructor(name: string, args: VolumeArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:host:Volume", name, {}, opts);
    const volume = new docker.Volume(
      name,
      { name: args.volumeName, labels: [{ label: OWNER_LABEL, value: stackOwner() }] },
      {
        parent: this,
        ...(args.protect === true && { protect: true, retainOnDelete: true }),
        // Adding the owner label to an existing volume would make Pulumi replace the volume.
        ignoreChanges: ["labels"],
        transformations: [runBeforeCreate(args.hooks)],
      },
    );

    this.volumeName = volume.name;
    this.registerOutputs({ volumeName: this.volumeName });
  }
}
