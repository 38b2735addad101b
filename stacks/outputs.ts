import type * as pulumi from "@pulumi/pulumi";
import type { Target } from "../infra/gateway/args.ts";

/** As `pulumi stack output` shows them. */
export interface StackOutputs {
  target: Target;
  /** Public URL without a trailing slash. */
  url: pulumi.Input<string>;
  /** The image's name, or the hash of its sources. */
  image: pulumi.Input<string>;
  /** Hash over the code of Worker and container. */
  bundleHash: pulumi.Input<string>;
  /** Results of the readiness checks, one per line. */
  readiness: pulumi.Output<string>;
  /** Outputs of only one target. */
  [name: string]: pulumi.Input<string | undefined>;
}
