import { Command, CommanderError } from "commander";
import { StewardError } from "../../contract/errors.ts";
import { AGENT, VERSION } from "../../contract/names.ts";
import type { CommandContext } from "./context.ts";

type AddCommands = (program: Command, context: CommandContext) => void;

/** One word of the command line; its module is loaded only where the line names it. */
interface Group {
  name: string;
  description: string;
  load(): Promise<AddCommands>;
}

const GROUPS: readonly Group[] = [
  {
    name: "pairing",
    description: "who asks to write to the bot",
    load: async () => (await import("./pairing.ts")).addPairingCommands,
  },
  {
    name: "devices",
    description: "the browsers of the web chat",
    load: async () => (await import("./devices.ts")).addDeviceCommands,
  },
  {
    name: "config",
    description: "the gateway's config file",
    load: async () => (await import("./config.ts")).addConfigCommands,
  },
  {
    name: "health",
    description: "whether the gateway is ready",
    load: async () => (await import("./health.ts")).addHealthCommand,
  },
  {
    name: "status",
    description: "the gateway, its config, and who waits for approval",
    load: async () => (await import("./status.ts")).addStatusCommand,
  },
  {
    name: "channels",
    description: "the chat platforms",
    load: async () => (await import("./channels.ts")).addChannelCommands,
  },
  {
    name: "models",
    description: "the models that answer",
    load: async () => (await import("./models.ts")).addModelCommands,
  },
  {
    name: "sessions",
    description: "conversations with their models and sizes",
    load: async () => (await import("./sessions.ts")).addSessionCommands,
  },
  {
    name: "workspace",
    description: "the files that the assistant reads",
    load: async () => (await import("./workspace.ts")).addWorkspaceCommands,
  },
  {
    name: "schedules",
    description: "messages that the bot sends at set times",
    load: async () => (await import("./schedules.ts")).addScheduleCommands,
  },
  {
    name: "usage",
    description: "tokens by day and model",
    load: async () => (await import("./records.ts")).addUsageCommand,
  },
  {
    name: "backup",
    description: "copies of the data directory",
    load: async () => (await import("./backup.ts")).addBackupCommands,
  },
  {
    name: "completion",
    description: "completions for bash, zsh and fish",
    load: async () => (await import("./completion.ts")).addCompletionCommand,
  },
  {
    name: "doctor",
    description: "checks for problems and fixes what it can",
    load: async () => (await import("./doctor.ts")).addDoctorCommand,
  },
];

/** The command line's program: the groups that the line names in full, the others by name, for help and hints. */
async function createProgram(context: CommandContext, args: readonly string[]): Promise<Command> {
  const program = new Command(AGENT)
    .description("Looks after a steward gateway, whether it is up or down.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.output.text(text),
      // An error of the command line is thrown too, and reported like every other failure.
      writeErr: () => undefined,
    });
  for (const { name, description, load } of GROUPS) {
    // The completions are made from all of them.
    if (args.includes(name) || args[0] === "completion") (await load())(program, context);
    else program.command(name).description(description);
  }
  return program;
}

/**
 * Runs one command line.
 *
 * @throws StewardError `usage_invalid` for a line that cannot be understood, with commander's hint.
 */
export async function runCommandLine(context: CommandContext, args: readonly string[]): Promise<void> {
  const program = await createProgram(context, args);
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const named = error.code === "commander.help" ? "A command is missing." : error.message;
    throw new StewardError("usage_invalid", named.replace(/^error: /, ""), { cause: error });
  }
}
