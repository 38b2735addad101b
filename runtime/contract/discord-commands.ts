/**
 * Option types:
 * https://docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-option-type
 */
const STRING = 3;
const ATTACHMENT = 11;
/** A slash command. */
const CHAT_INPUT = 1;
/** Installs the commands in servers only. A user install would bring them into chats that the bot cannot write to. */
const GUILD_INSTALL = 0;
/** Contexts that offer the commands: servers (0) and direct messages with the bot (1). */
const CONTEXTS = [0, 1];
/** Discord's limit for a text option, in characters. */
const LONGEST_TEXT = 6_000;

interface DiscordCommandOption {
  type: typeof STRING | typeof ATTACHMENT;
  name: string;
  description: string;
  required: boolean;
  max_length?: number;
}

export interface DiscordCommand {
  type: typeof CHAT_INPUT;
  name: string;
  description: string;
  options?: DiscordCommandOption[];
  integration_types: number[];
  contexts: number[];
}

interface Entry {
  description: string;
  options?: DiscordCommandOption[];
  /** True if the answer in a server is visible only to the person who used the command. */
  private: boolean;
}

const text: DiscordCommandOption = {
  type: STRING,
  name: "text",
  description: "What you want to ask",
  required: true,
  max_length: LONGEST_TEXT,
};
const file: DiscordCommandOption = {
  type: ATTACHMENT,
  name: "file",
  description: "A file to send with it",
  required: false,
};
const model: DiscordCommandOption = {
  type: STRING,
  name: "name",
  description: "The model to use from now on",
  required: false,
  max_length: 100,
};

/** Discord's slash commands. All except `ask` exist on every platform. */
const COMMANDS: Record<string, Entry> = {
  ask: { description: "Ask the assistant", options: [text, file], private: false },
  new: { description: "Start a new conversation", private: false },
  reset: { description: "Forget this conversation", private: false },
  stop: { description: "Stop the current answer", private: false },
  model: { description: "Show or change the model", options: [model], private: false },
  status: { description: "Show the assistant's status", private: true },
  usage: { description: "Show the usage", private: true },
  whoami: { description: "Show your user id and your role", private: true },
  help: { description: "Show what the assistant understands", private: true },
};

/**
 * Commands in Discord's format for a bulk overwrite:
 * https://docs.discord.com/developers/interactions/application-commands#bulk-overwrite-global-application-commands
 */
export const DISCORD_COMMANDS: readonly DiscordCommand[] = Object.entries(COMMANDS).map(registration);

function registration([name, { description, options }]: [string, Entry]): DiscordCommand {
  const offered = { integration_types: [GUILD_INSTALL], contexts: CONTEXTS };
  return { type: CHAT_INPUT, name, description, ...(options && { options }), ...offered };
}

export function isDiscordCommand(name: string): boolean {
  return Object.hasOwn(COMMANDS, name);
}

/**
 * Returns true if a command's answer must be hidden from other people in the server. Always false in direct messages.
 */
export function isPrivateAnswer(name: string, inGuild: boolean): boolean {
  return inGuild && isDiscordCommand(name) && COMMANDS[name]?.private === true;
}
