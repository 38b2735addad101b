import type { dynamic } from "@pulumi/pulumi";
import { askDiscord, callDiscord, type DiscordBot } from "./discord-api.ts";
import { commandsText } from "./discord-commands-text.ts";
import { configureEndpoints } from "./endpoints.ts";

/**
 * The dynamic provider of `DiscordCommands`. Pulumi serialises what is reachable from here into the
 * stack's state, so it captures texts alone; the token comes as a secret input.
 */

/** An application's commands, all of them: what is not in the list is not offered. */
export interface CommandsInputs extends DiscordBot {
  /** The list as {@link commandsText} writes it. */
  commands: string;
}

const KEYS = ["botToken", "commands"] as const;

/** See {@link CommandsInputs}. Global commands: https://docs.discord.com/developers/interactions/application-commands */
export const discordCommandsProvider: dynamic.ResourceProvider<CommandsInputs, CommandsInputs> = {
  configure: configureEndpoints,

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
    if (!props) throw new Error("Commands cannot be imported: deploy, and they are registered again.");
    const commands = commandsText(await callDiscord(props, "GET", pathOf(props)));
    const inputs = { ...props, commands };
    return commands === "[]" ? { id: "" } : { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await overwrite(news);
    return { outs: news };
  },

  /**
   * Leaves alone what someone else has registered since. A token that Discord does not know any more is no
   * error: it would keep the stack from ever being destroyed.
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
