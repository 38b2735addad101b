import * as pulumi from "@pulumi/pulumi";
import { DISCORD_COMMANDS } from "../../runtime/contract/discord-commands.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { askDiscord, callDiscord, type DiscordBot } from "./discord-api.ts";

/** Inputs of the resource. Discord deletes every command that `commands` lacks. */
export interface CommandsInputs extends DiscordBot {
  /** Output of {@link commandsText}. */
  commands: string;
}

/** Command fields to compare with Discord's response, which has additional fields such as ids. */
const COMMAND_FIELDS = ["type", "name", "description", "integration_types", "contexts"] as const;
const OPTION_FIELDS = ["type", "name", "description", "required", "max_length"] as const;
const KEYS = ["botToken", "commands"] as const;

/** Provider of {@link DiscordCommands}: https://docs.discord.com/developers/interactions/application-commands */
export const discordCommandsProvider: ResourceProvider<CommandsInputs, CommandsInputs> = {
  async diff(id, olds, news) {
    const replaces = id === news.applicationId ? [] : ["applicationId"];
    const changes = replaces.length > 0 || KEYS.some((key) => olds[key] !== news[key]);
    return { changes, replaces };
  },

  async create(inputs) {
    await overwrite(inputs);
    return { id: inputs.applicationId, outs: inputs };
  },

  async read(id, props) {
    const commands = commandsText(await callDiscord(props, "GET", pathOf(props)));
    const inputs = { ...props, commands };
    return commands === "[]" ? { id: "" } : { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await overwrite(news);
    return { outs: news };
  },

  /**
   * Deletes the commands unless somebody has changed them. Ignores a rejected token, so that the stack can still be
   * destroyed.
   */
  async delete(_id, props) {
    const answer = await askDiscord(props, "GET", pathOf(props));
    if (answer.refused || commandsText(answer.result) !== props.commands) return;
    await callDiscord(props, "PUT", pathOf(props), []);
  },
};

/** https://docs.discord.com/developers/interactions/application-commands#bulk-overwrite-global-application-commands */
async function overwrite(inputs: CommandsInputs): Promise<void> {
  await callDiscord(inputs, "PUT", pathOf(inputs), JSON.parse(inputs.commands));
}

function pathOf({ applicationId }: CommandsInputs): string {
  return `/applications/${applicationId}/commands`;
}

/**
 * Returns the commands in a form comparable with Discord's response: sorted by name, without fields that Discord adds
 * or omits.
 */
export function commandsText(list: unknown): string {
  const byName = listOf(list).toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
  const commands = byName.map((command) => {
    const options = listOf(command["options"]).map((option) => pick(option, OPTION_FIELDS));
    return Object.assign(pick(command, COMMAND_FIELDS), options.length > 0 && { options });
  });
  return JSON.stringify(commands);
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}

function pick(from: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const given = fields.filter((field) => ![undefined, null, false].includes(from[field] as undefined));
  return Object.fromEntries(given.map((field) => [field, from[field]]));
}

export interface DiscordCommandsArgs {
  /** A Pulumi secret. */
  botToken: pulumi.Output<string>;
  applicationId: pulumi.Input<string>;
  connection?: ConnectionArgs | undefined;
}

/** The gateway's slash commands, available wherever the application is installed. */
export class DiscordCommands extends OwnResource {
  constructor(name: string, args: DiscordCommandsArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken"] };
    const inputs = { ...args, commands: commandsText(DISCORD_COMMANDS) };
    super("channels:DiscordCommands", name, inputs, secret);
  }
}
