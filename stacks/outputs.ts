import type * as pulumi from "@pulumi/pulumi";
import type { Target } from "../infra/gateway/args.ts";

/** As `pulumi stack output` shows them. */
export interface StackOutputs {
  target: Target;
  /** Public URL without a trailing slash. */
  url: pulumi.Input<string>;
  /** Name of a serverless stack's image, with a digest if the image was pushed. On a host, the image's id. */
  image: pulumi.Input<string>;
  /** Hash of the Worker's and the container's code. */
  bundleHash: pulumi.Input<string>;
  /** Results of the readiness checks, one per line. */
  readiness: pulumi.Output<string>;
  /** Outputs of only one target. */
  [name: string]: pulumi.Input<string | undefined>;
}
