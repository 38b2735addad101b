import type { Admission, Sender } from "../contract/message.ts";
import { PLATFORM_TITLES } from "../contract/delivery.ts";
import type { Config } from "../contract/config/index.ts";
import type { Role } from "../contract/config/rights.ts";
import { VERSION } from "../contract/names.ts";
import { rightsOf } from "./admission.ts";
import { type UsageStore, usageText } from "./models/usage.ts";
import type { Components } from "./components.ts";
import type { Sessions } from "./sessions/store.ts";

/** In display order. */
const COMMANDS = {
  help: "the commands I understand",
  status: "my status",
  new: "start over: I forget this conversation",
  reset: "the same as /new",
  model: "the available models; /model <name> chooses one for this chat, /model default resets it",
  stop: "stop what I am doing here",
  usage: "tokens used today and in seven days, for operators",
  whoami: "your id",
} as const;

const FORM = /^\/([a-z]+)(?:@[\w-]+)?(?:\s+([\s\S]*))?$/i;

interface CommandsOptions {
  parts(): { config: Components["config"]; channels: Pick<Components["channels"], "health"> };
  sessions: Pick<Sessions, "reset" | "modelOf" | "setModel" | "size">;
  usage: Pick<UsageStore, "recent">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

interface CommandContext {
  session: string;
  platform: string;
  sender: Sender;
  admission: Admission;
  /** Cancels all messages that are queued or being answered. Returns their number. */
  stop(): number;
}

/** Runs chat commands, which the model does not see. */
export class Commands {
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  run({ name, argument }: Command, context: CommandContext): string {
    const { parts, sessions, usage, clock } = this.#options;
    const { session } = context;
    switch (name) {
      case "help":
        return helpText();
      case "status":
        return this.#status(context);
      case "new":
      case "reset":
        sessions.reset(session, clock());
        return "Started a new conversation. The old one is forgotten.";
      case "model": {
        const { models } = parts().config;
        if (argument === "") return modelText(models, sessions.modelOf(session));
        const change = changeModel(models, argument);
        if (change.ok) sessions.setModel(session, change.reference);
        return change.text;
      }
      case "stop":
        return context.stop() > 0 ? "Stopped." : "Nothing was running.";
      case "usage": {
        const { config } = parts();
        const { may } = rightsOf(config, [context.admission]);
        return may("seeDeployment") ? usageText(usage.recent(USAGE_DAYS), clock()) : operatorsOnly(context);
      }
      case "whoami":
        return whoamiText(parts().config, context);
    }
  }

  #status({ session, platform }: CommandContext): string {
    const { parts, sessions } = this.#options;
    const { config, channels } = parts();
    const health = channels.health().find((channel) => channel.platform === platform);
    const messages = sessions.size(session);
    const chosen = sessions.modelOf(session);
    const lines = [
      `steward ${VERSION}`,
      `Model: ${chosen ?? config.models.primary}${chosen === undefined ? "" : " (chosen for this chat)"}`,
      `This conversation: ${messages} ${messages === 1 ? "message" : "messages"}`,
      `Channel: ${title(platform)}, ${health?.state ?? "ready"}`,
    ];
    return lines.join("\n");
  }
}

const USAGE_DAYS = 7;

function helpText(): string {
  const lines = Object.entries(COMMANDS).map(([name, what]) => `/${name} - ${what}`);
  return ["Write to me and I will answer. I also understand these commands:", ...lines].join("\n");
}

function operatorsOnly({ platform, sender, admission }: CommandContext): string {
  if (admission.by === "group") return "Total usage is not shown in groups. Ask in a direct chat.";
  return `Only operators can see total usage. To become one, "${platform}:${sender.id}" has to be in agent.operators of the config file, or approved as an operator.`;
}

const RIGHTS: Readonly<Record<Role, string>> = {
  operator: "an operator's",
  person: "a person's",
  group: "this group's",
  guest: "a guest's: this bot is open to everyone",
};

function whoamiText(config: Config, { platform, sender, admission }: CommandContext): string {
  const name = sender.name === undefined ? "" : ` (${sender.name})`;
  const [role = "guest"] = rightsOf(config, [admission]).roles;
  return `Your ${title(platform)} user id: ${sender.id}${name}\nYour rights: ${RIGHTS[role]}`;
}

function title(platform: string): string {
  return Object.hasOwn(PLATFORM_TITLES, platform)
    ? PLATFORM_TITLES[platform as keyof typeof PLATFORM_TITLES]
    : "web chat";
}

type CommandName = keyof typeof COMMANDS;

export interface Command {
  name: CommandName;
  /** May be empty. */
  argument: string;
}

/**
 * Parses commands such as `/status`, `/STATUS`, `/status@botname` or `/model anthropic/claude-sonnet-4-5`. Any other
 * text is for the model, even if it begins with a slash.
 */
export function readCommand(text: string): Command | undefined {
  const [, word = "", argument = ""] = FORM.exec(text.trim()) ?? [];
  const name = word.toLowerCase();
  return isCommand(name) ? { name, argument: argument.trim() } : undefined;
}

/**
 * Returns true for a command that must wait until earlier messages are answered. The command would otherwise change
 * those answers.
 */
export function waitsForEarlierMessages({ name, argument }: Command): boolean {
  return name === "new" || name === "reset" || (name === "model" && argument !== "");
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

type Models = Pick<Config["models"], "primary" | "fallbacks">;

function modelText(models: Models, chosen: string | undefined): string {
  const known = configured(models);
  const current = chosen !== undefined && known.includes(chosen) ? chosen : models.primary;
  const lines = known.map((reference) => {
    const notes = [
      ...(reference === models.primary ? ["default"] : []),
      ...(reference === current ? ["tried first here"] : []),
    ];
    return `- ${reference}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
  });
  return ["Models:", ...lines, "/model <name> chooses one for this chat, /model default resets it."].join(
    "\n",
  );
}

/** `reference` is `undefined` for the default. */
type ModelChange = { ok: true; reference: string | undefined; text: string } | { ok: false; text: string };

/** Selects a model by its full name, or by the part after the provider if that is unique. */
function changeModel(models: Models, argument: string): ModelChange {
  const wanted = argument.toLowerCase();
  if (wanted === "default") {
    return { ok: true, reference: undefined, text: `This chat uses the default again: ${models.primary}.` };
  }
  const known = configured(models);
  const short = known.filter(
    (reference) => reference.slice(reference.indexOf("/") + 1).toLowerCase() === wanted,
  );
  const reference =
    known.find((one) => one.toLowerCase() === wanted) ?? (short.length === 1 ? short[0] : undefined);
  if (reference === undefined) {
    return { ok: false, text: `I have no model of that name. I have: ${known.join(", ")}.` };
  }
  return { ok: true, reference, text: `From now on, this chat tries ${reference} first.` };
}

function configured({ primary, fallbacks }: Models): string[] {
  return [...new Set([primary, ...fallbacks])];
}
