import * as pulumi from "@pulumi/pulumi";
import { telegramWebhookProvider } from "./telegram-webhook-provider.ts";

/** Arguments of {@link TelegramWebhook}. */
export interface TelegramWebhookArgs {
  /** A Pulumi secret. */
  botToken: pulumi.Output<string>;
  /** An https address on port 443, 80, 88 or 8443. */
  url: string;
  /** A Pulumi secret: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  secretToken: pulumi.Output<string>;
}

/**
 * The address that Telegram delivers a bot's updates to. Depend on what proves that the service answers:
 * from its creation on updates come in.
 */
export class TelegramWebhook extends pulumi.dynamic.Resource {
  constructor(name: string, args: TelegramWebhookArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken", "secretToken"] };
    super(telegramWebhookProvider, name, { ...args }, secret, "channels", "TelegramWebhook");
  }
}
