import { operatorStack } from "../shell/resource.ts";
import { INTERPRETER, programText } from "../shell/package.ts";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import type { Platform } from "../../runtime/contract/delivery.ts";

export interface ProbeArgs {
  /** Address of the deployed service, without a path. */
  url: pulumi.Input<string>;
  /** Hash of the bundle that the service must run. Default: any bundle. */
  bundle?: pulumi.Input<string> | undefined;
  /** Attestation that the service must report, made with `AttestationKey`. Default: any attestation. */
  attestation?: pulumi.Input<string>;
  channels: readonly Platform[];
  /** True to send a test alert, which every destination must accept. */
  alerts: boolean;
  publicWebhooks: boolean;
}

export interface ReadinessArgs extends ProbeArgs {
  /** Key that signs requests for details and for a test alert. */
  key: pulumi.Input<string>;
  /** Values that identify the deployed version. If one changes, the probe runs again. */
  triggers: pulumi.Input<string>[];
}

const PROBE = programText("infra/readiness/probe");

/**
 * Waits until the deployed service passes the readiness probe, and fails the update otherwise. Must depend on
 * everything that the probe needs.
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
        // Pass the key on standard input, because other processes can read the environment.
        stdin: args.key,
        triggers: args.triggers,
      },
      { parent: this },
    );

    // Pulumi marks the output as secret because `key` is secret. The report contains no secret.
    this.report = pulumi.unsecret(probe.stdout);
    this.registerOutputs({ report: this.report });
  }
}

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
