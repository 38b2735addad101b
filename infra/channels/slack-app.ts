import * as pulumi from "@pulumi/pulumi";
import { slackAppProvider } from "./slack-app-provider.ts";

/** Arguments of {@link SlackApp}. */
export interface SlackAppArgs {
  /** As the app's page shows it: A, then letters and digits. */
  appId: string;
  /** A Pulumi secret: an app configuration token. */
  configToken: pulumi.Output<string>;
  /** The manifest that the app has to have, as JSON. */
  manifest: string;
}

/** The manifest of a Slack app that is there. Depend on what proves that the service answers: Slack asks it at once. */
export class SlackApp extends pulumi.dynamic.Resource {
  constructor(name: string, args: SlackAppArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["configToken"] };
    super(slackAppProvider, name, { ...args }, secret, "channels", "SlackApp");
  }
}
