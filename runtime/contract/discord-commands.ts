/** An option's type: https://docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-option-type */
const STRING = 3;
const ATTACHMENT = 11;
/** `CHAT_INPUT`: a command that is typed with a slash. */
const CHAT_INPUT = 1;
/** Added to a server; the other kind, added to a person, brings commands into chats that the bot cannot write to. */
const GUILD_INSTALL = 0;
/** Places where commands are offered: servers, and direct messages with the bot. */
const CONTEXTS = [0, 1];
/** Characters of a text option; Discord's own highest limit. */
const LONGEST_TEXT = 6_000;

/** One option of a command. */
interface DiscordCommandOption {
  type: typeof STRING | typeof ATTACHMENT;
  name: string;
  description: string;
  required: boolean;
  max_length?: number;
}

/** One command in the form that Discord registers. */
export interface DiscordCommand {
  type: typeof CHAT_INPUT;
  name: string;
  description: string;
  options?: DiscordCommandOption[];
  integration_types: number[];
  contexts: number[];
}

/** A command, and who sees its answer in a server. */
interface Entry {
  description: string;
  options?: DiscordCommandOption[];
  /** In a server only the person who asked sees the answer. */
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
  description: "A file that belongs to it",
  required: false,
};
const model: DiscordCommandOption = {
  type: STRING,
  name: "name",
  description: "The model to use from now on",
  required: false,
  max_length: 100,
};

/** The commands. All but `ask` are the chat commands of every platform. */
const COMMANDS: Record<string, Entry> = {
  ask: { description: "Ask the assistant", options: [text, file], private: false },
  new: { description: "Start a new conversation", private: false },
  reset: { description: "Forget this conversation", private: false },
  stop: { description: "Stop the answer that is being made", private: false },
  model: { description: "Show or change the model", options: [model], private: false },
  status: { description: "How the assistant stands", private: true },
  usage: { description: "What has been used", private: true },
  whoami: { description: "Your user id and your standing", private: true },
  help: { description: "What the assistant understands", private: true },
};

/**
 * The commands as Discord takes them, all at once:
 * https://docs.discord.com/developers/interactions/application-commands#bulk-overwrite-global-application-commands
 */
export const DISCORD_COMMANDS: readonly DiscordCommand[] = Object.entries(COMMANDS).map(registration);

function registration([name, { description, options }]: [string, Entry]): DiscordCommand {
  const offered = { integration_types: [GUILD_INSTALL], contexts: CONTEXTS };
  return { type: CHAT_INPUT, name, description, ...(options && { options }), ...offered };
}

/** Tells whether a command of this name is offered. */
export function isDiscordCommand(name: string): boolean {
  return Object.hasOwn(COMMANDS, name);
}

/** Tells whether the answer to a command is only for the person who asked. Direct messages have no one else. */
export function isPrivateAnswer(name: string, inGuild: boolean): boolean {
  return inGuild && isDiscordCommand(name) && COMMANDS[name]?.private === true;
}
