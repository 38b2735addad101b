/** What each command does, in the words of /help. In the order in which they are told. */
export const COMMANDS = {
  help: "what I understand",
  status: "how I am",
  new: "begin anew: I forget what was said here",
  reset: "the same as /new",
  model: "which models there are; /model <name> chooses one for this chat, /model default undoes that",
  stop: "stop what I am doing here",
  usage: "tokens used today and in seven days, for operators",
  whoami: "your id",
} as const;

/** A command's name. */
export type CommandName = keyof typeof COMMANDS;

/** A command as somebody wrote it. */
export interface Command {
  name: CommandName;
  /** What comes behind it; may be empty. */
  argument: string;
}

const FORM = /^\/([a-z]+)(?:@[\w-]+)?(?:\s+([\s\S]*))?$/i;

/**
 * Reads a command: `/status`, `/STATUS`, `/status@botname`, `/model anthropic/claude-sonnet-4-5`. Any
 * other text, also one that begins with a slash, is for the model.
 */
export function readCommand(text: string): Command | undefined {
  const [, word = "", argument = ""] = FORM.exec(text.trim()) ?? [];
  const name = word.toLowerCase();
  return isCommand(name) ? { name, argument: argument.trim() } : undefined;
}

/**
 * Whether a command takes its place behind the messages before it, because it changes what is answered
 * after it. The others tell something at once, also while an answer is made; /stop has to.
 */
export function keepsItsPlace({ name, argument }: Command): boolean {
  return name === "new" || name === "reset" || (name === "model" && argument !== "");
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}
