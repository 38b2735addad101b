import type * as pulumi from "@pulumi/pulumi";
import type { Target } from "../infra/gateway/args.ts";

/** Outputs of every stack: `pulumi stack output`. */
export interface StackOutputs {
  target: Target;
  /** The service's address, without a slash at the end. */
  url: pulumi.Input<string>;
  /** The container's image: by name, or by the hash of what it was built from. */
  image: pulumi.Input<string>;
  /** Hash over the code of Worker and container. */
  bundleHash: pulumi.Input<string>;
  /** Results of the deployed service's checks: one line for each check, or one for all routes of a kind. */
  readiness: pulumi.Output<string>;
  /** Members that only one of the targets has. */
  [name: string]: pulumi.Input<string | undefined>;
}
