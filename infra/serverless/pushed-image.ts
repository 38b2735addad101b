import { INTERPRETER, programText } from "../shell/package.ts";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { ApiCredentials } from "./account-api.ts";
import type { InstanceType } from "./container-api.ts";

/** Arguments of {@link PushedImage}. */
export interface PushedImageArgs {
  accountId: pulumi.Input<string>;
  /** Host of the account's registry, with a port where it has one. */
  registry: string;
  instanceType: InstanceType;
  /** A published image by digest, to be copied. Default: the image is built. */
  source?: pulumi.Input<string> | undefined;
  /** Hash of what the image is built from: another one is another image. */
  hash: pulumi.Input<string>;
  /** Month of the base image, such as `2026-11`; in another one the image is built and pushed again, unless published. */
  baseMonth: string;
  /** Cloudflare's API. The token is a Pulumi secret; what is left out is read from CLOUDFLARE_*. */
  api: ApiCredentials;
}

const PUSH = programText("infra/serverless/push");

/** The gateway's image in the account's registry. Nothing is built or pushed in a preview. */
export class PushedImage extends pulumi.ComponentResource {
  /** The image by digest. */
  readonly reference: pulumi.Output<string>;

  constructor(name: string, args: PushedImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:serverless:PushedImage", name, {}, opts);

    const push = new command.local.Command(
      `${name}-push`,
      {
        interpreter: INTERPRETER,
        create: PUSH,
        environment: pushEnvironment(args),
        // Not in the environment, which other processes can read. Without it, the push takes the operator's own.
        stdin: args.api.apiToken as pulumi.Input<string>,
        triggers: [args.hash, args.source ?? args.baseMonth],
      },
      { parent: this },
    );

    // A command's output counts as secret since the token went in; a digest is none.
    this.reference = pulumi.unsecret(push.stdout).apply((said) => said.trim());
    this.registerOutputs({ reference: this.reference });
  }
}

function pushEnvironment({
  accountId,
  registry,
  instanceType,
  source,
  api: { baseUrl },
}: PushedImageArgs): Record<string, pulumi.Input<string>> {
  const environment = {
    PUSH_ACCOUNT: accountId,
    PUSH_REGISTRY: registry,
    PUSH_INSTANCE_TYPE: instanceType,
    ...(source !== undefined && { PUSH_SOURCE: source }),
    ...(baseUrl !== undefined && { CLOUDFLARE_BASE_URL: baseUrl }),
  };
  // A provider's output without a value leaves its variable out.
  return environment as Record<string, pulumi.Input<string>>;
}
