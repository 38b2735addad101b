import type * as pulumi from "@pulumi/pulumi";
import type { Target } from "../infra/gateway/args.ts";

/** As `pulumi stack output` shows them. */
export interface StackOutputs {
  target: Target;
  /** Public URL without a trailing slash. */
  url: pulumi.Input<string>;
  /** Serverless: the image's name, by digest if it was pushed. Host: the image's id. */
  image: pulumi.Input<string>;
  /** Hash of the code of Worker and container. */
  bundleHash: pulumi.Input<string>;
  /** Results of the readiness checks, one per line. */
  readiness: pulumi.Output<string>;
  /** Outputs of only one target. */
  [name: string]: pulumi.Input<string | undefined>;
}
