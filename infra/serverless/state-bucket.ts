import * as pulumi from "@pulumi/pulumi";
import * as cloudflare from "./cloudflare.ts";

/** Arguments of {@link StateBucket}. */
export interface StateBucketArgs {
  accountId: string;
  bucketName: string;
  /** Refuse to delete the bucket, and keep it when the stack goes. Default: false. */
  protect?: boolean;
}

/**
 * The bucket that keeps the config file and the snapshots of the container's data. It is one stack's own: the
 * name is the stack's and no key changes it, it is created and never taken over, and Cloudflare refuses a
 * second one of the name in the account. So no two stacks write below one prefix.
 */
export class StateBucket extends pulumi.ComponentResource {
  readonly bucketName: pulumi.Output<string>;

  constructor(name: string, args: StateBucketArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:serverless:StateBucket", name, {}, opts);
    const keep = args.protect ?? false;

    const bucket = new cloudflare.R2Bucket(
      name,
      { accountId: args.accountId, name: args.bucketName },
      { parent: this, protect: keep, retainOnDelete: keep },
    );

    this.bucketName = bucket.name;
    this.registerOutputs({ bucketName: this.bucketName });
  }
}
