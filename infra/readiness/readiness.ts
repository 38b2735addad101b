import { operatorStack } from "../shell/resource.ts";
import { INTERPRETER, programText } from "../shell/package.ts";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { Platform } from "../../runtime/contract/delivery.ts";

/** Inputs of the readiness probe. */
export interface ProbeArgs {
  /** The deployed service's address, without a path. */
  url: pulumi.Input<string>;
  /** Hash of the bundle that the service has to run. Default: any. */
  bundle?: pulumi.Input<string> | undefined;
  /** Attestation of the deployed secrets, as `AttestationKey` expects it. Default: any. */
  attestation?: pulumi.Input<string>;
  /** The channels that have to work. */
  channels: readonly Platform[];
  /** True to send a test alert, which every destination has to accept. */
  alerts: boolean;
  /** True if the webhook routes have to be reachable without an identity. */
  publicWebhooks: boolean;
}

/** Arguments of {@link Readiness}. */
export interface ReadinessArgs extends ProbeArgs {
  /**
   * Signs the requests that only the stack may make: for the reason why the gateway does not start, for the channels'
   * state and for a test alert.
   */
  key: pulumi.Input<string>;
  /** Values that identify the deployed version. When one of them changes, the service is probed again. */
  triggers: pulumi.Input<string>[];
}

const PROBE = programText("infra/readiness/probe");

/**
 * Holds an update until the deployed service answers as it should, and fails the update if it does not. Make this
 * resource depend on everything that has to exist before.
 */
export class Readiness extends pulumi.ComponentResource {
  /** Report of the probe, one line per check. */
  readonly report: pulumi.Output<string>;

  constructor(name: string, args: ReadinessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:readiness:Readiness", name, {}, opts);

    const probe = new command.local.Command(
      `${name}-probe`,
      {
        interpreter: INTERPRETER,
        create: PROBE,
        environment: probeEnvironment(args),
        // The key is not passed in the environment, which other processes can read.
        stdin: args.key,
        triggers: args.triggers,
      },
      { parent: this },
    );

    // Pulumi treats the command's whole output as a secret because of the key. The report contains no secret.
    this.report = pulumi.unsecret(probe.stdout);
    this.registerOutputs({ report: this.report });
  }
}

/** Returns the variables that tell the readiness probe what to check. */
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
