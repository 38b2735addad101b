import * as pulumi from "@pulumi/pulumi";
import { DISCORD_COMMANDS } from "../../runtime/contract/discord-commands.ts";
import { discordCommandsProvider } from "./discord-commands-provider.ts";
import { commandsText } from "./discord-commands-text.ts";

/** Arguments of {@link DiscordCommands}. */
export interface DiscordCommandsArgs {
  /** A Pulumi secret. */
  botToken: pulumi.Output<string>;
  applicationId: string;
}

/** The slash commands that the gateway understands, offered wherever the application is installed. */
export class DiscordCommands extends pulumi.dynamic.Resource {
  constructor(name: string, args: DiscordCommandsArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken"] };
    const inputs = { ...args, commands: commandsText(DISCORD_COMMANDS) };
    super(discordCommandsProvider, name, inputs, secret, "channels", "DiscordCommands");
  }
}
