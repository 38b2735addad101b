import { INTERPRETER, programText } from "../shell/package.ts";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { ApiCredentials } from "./account-api.ts";
import type { InstanceType } from "./container-api.ts";

export interface PushedImageArgs {
  accountId: pulumi.Input<string>;
  /** Registry host, with a port unless it is the default. */
  registry: string;
  instanceType: InstanceType;
  /** Published image to copy, with its digest. Default: build the image. */
  source?: pulumi.Input<string> | undefined;
  /** Hash of the image's sources. A change pushes a new image. */
  hash: pulumi.Input<string>;
  /** Month of the base image, such as `2026-11`. A new month rebuilds the image, unless `source` is set. */
  baseMonth: string;
  /** Cloudflare credentials; the token is a Pulumi secret. CLOUDFLARE_* variables supply missing values. */
  api: ApiCredentials;
}

const PUSH = programText("infra/serverless/push");

/** The gateway's image in the account's registry. A preview neither builds nor pushes it. */
export class PushedImage extends pulumi.ComponentResource {
  /** Image name with digest. */
  readonly reference: pulumi.Output<string>;

  constructor(name: string, args: PushedImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:serverless:PushedImage", name, {}, opts);

    const push = new command.local.Command(
      `${name}-push`,
      {
        interpreter: INTERPRETER,
        create: PUSH,
        environment: pushEnvironment(args),
        // Pass the token on standard input, because other processes can read the environment. Without a token, the
        // push uses CLOUDFLARE_API_TOKEN.
        stdin: args.api.apiToken as pulumi.Input<string>,
        triggers: [args.hash, args.source ?? args.baseMonth],
      },
      { parent: this },
    );

    // The command receives a token, so Pulumi marks its output as secret. The digest is public.
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
  // The cast is safe: Pulumi omits variables whose value is `undefined`.
  return environment as Record<string, pulumi.Input<string>>;
}
