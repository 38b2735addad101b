import * as pulumi from "@pulumi/pulumi";
import type { DiscordCommandsArgs } from "./discord-commands.ts";
import { discordEndpointProvider } from "./discord-endpoint-provider.ts";

/** Arguments of {@link DiscordEndpoint}. */
export interface DiscordEndpointArgs extends DiscordCommandsArgs {
  /** The application's key, 64 hexadecimal digits. */
  publicKey: string;
  /** A public https address. */
  url: string;
}

/**
 * The address that Discord sends interactions to. Depend on what proves that the service answers: Discord
 * tries it at once.
 */
export class DiscordEndpoint extends pulumi.dynamic.Resource {
  constructor(name: string, args: DiscordEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken"] };
    super(discordEndpointProvider, name, { ...args }, secret, "channels", "DiscordEndpoint");
  }
}
