import { operatorStack } from "../dynamic/resource.ts";
import { INTERPRETER, programText } from "../shell/package.ts";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { Platform } from "../../runtime/contract/delivery.ts";

/** Questions of the readiness probe. */
export interface ProbeArgs {
  /** The deployed service's address, without a path. */
  url: pulumi.Input<string>;
  /** The hash of the bundle that has to answer. Default: any. */
  bundle?: string | undefined;
  /** Attestation of the deployed secrets, as `AttestationKey` expects it. Default: any. */
  attestation?: pulumi.Input<string>;
  /** The channels that have to work. */
  channels: readonly Platform[];
  /** Sends a test alert, which every destination has to take. */
  alerts: boolean;
  /** True if the webhook routes have to answer without an identity. */
  publicWebhooks: boolean;
}

/** Arguments of {@link Readiness}. */
export interface ReadinessArgs extends ProbeArgs {
  /** Signs the questions that only the stack may ask: why the gateway does not start, channels, alerts. */
  key: pulumi.Input<string>;
  /** Deployed version: when one of these changes, the service is asked again. */
  triggers: pulumi.Input<string>[];
}

const PROBE = programText("infra/readiness/probe");

/**
 * Holds an update until the deployed service answers as it should, and fails it otherwise. Make it
 * depend on everything that has to be there before.
 */
export class Readiness extends pulumi.ComponentResource {
  /** Report of the probe: a line for each check. */
  readonly report: pulumi.Output<string>;

  constructor(name: string, args: ReadinessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:readiness:Readiness", name, {}, opts);

    const probe = new command.local.Command(
      `${name}-probe`,
      {
        interpreter: INTERPRETER,
        create: PROBE,
        environment: probeEnvironment(args),
        // Not in the environment, which other processes can read.
        stdin: args.key,
        triggers: args.triggers,
      },
      { parent: this },
    );

    // The key makes a secret of all that the command gives back; the report holds none.
    this.report = pulumi.unsecret(probe.stdout);
    this.registerOutputs({ report: this.report });
  }
}

/** Returns the variables that tell the readiness probe what to ask. */
export function probeEnvironment({
  url,
  publicWebhooks,
  bundle,
  attestation,
  channels,
  alerts,
}: ProbeArgs): Record<string, pulumi.Input<string>> {
  return {
    PROBE_URL: url,
    PROBE_STACK: operatorStack(),
    PROBE_PUBLIC_WEBHOOKS: String(publicWebhooks),
    ...(bundle !== undefined && { PROBE_BUNDLE: bundle }),
    ...(attestation !== undefined && { PROBE_ATTESTATION: attestation }),
    ...(channels.length > 0 && { PROBE_CHANNELS: channels.join(",") }),
    ...(alerts && { PROBE_ALERTS: "true" }),
  };
}
