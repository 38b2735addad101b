import { VERSION } from "../../contract/names.ts";
import { PLATFORM_TITLES } from "../channels/titles.ts";
import { roleOf } from "../agent/rights.ts";
import type { Sender } from "../channels/channel.ts";
import type { UsageStore } from "../models/usage.ts";
import type { Parts } from "../parts.ts";
import type { Sessions } from "../sessions/store.ts";
import { COMMANDS, type Command } from "./command.ts";
import { changeModel, modelText } from "./model.ts";
import { usageText } from "./usage.ts";

/** What commands are carried out with. */
export interface CommandsOptions {
  parts(): { config: Parts["config"]; channels: Pick<Parts["channels"], "health"> };
  sessions: Pick<Sessions, "reset" | "modelOf" | "setModel" | "size">;
  usage: Pick<UsageStore, "recent">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Who wrote a command, and where. The same on every platform and in the web chat. */
export interface CommandContext {
  conversation: string;
  /** `slack`, `telegram`, `discord`, or `web` for the web chat. */
  platform: string;
  sender: Sender;
  /** Not in a group. */
  direct: boolean;
  /** Ends what is under way and what waits in this conversation; gives how many messages that were. */
  stop(): number;
}

/** The commands that people write in a chat. The model is not asked. */
export class Commands {
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** Carries a command out and gives what is said. */
  run({ name, argument }: Command, context: CommandContext): string {
    const { parts, sessions, usage, clock } = this.#options;
    const { conversation } = context;
    switch (name) {
      case "help":
        return helpText();
      case "status":
        return this.#status(context);
      case "new":
      case "reset":
        sessions.reset(conversation, clock());
        return "A new conversation: what was said before is forgotten.";
      case "model": {
        const { models } = parts().config;
        if (argument === "") return modelText(models, sessions.modelOf(conversation));
        const change = changeModel(models, argument);
        if (change.ok) sessions.setModel(conversation, change.reference);
        return change.text;
      }
      case "stop":
        return context.stop() > 0 ? "Stopped." : "Nothing was running.";
      case "usage": {
        const { config } = parts();
        const isAllowed = config.agent.may.seeDeployment.includes(roleOf(config, context, context.sender));
        return isAllowed ? usageText(usage.recent(USAGE_DAYS), clock()) : operatorsOnly(context);
      }
      case "whoami":
        return whoamiText(context);
    }
  }

  #status({ conversation, platform }: CommandContext): string {
    const { parts, sessions } = this.#options;
    const { config, channels } = parts();
    const health = channels.health().find((channel) => channel.platform === platform);
    const messages = sessions.size(conversation);
    const chosen = sessions.modelOf(conversation);
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
  return ["Write to me and I answer. Besides that I understand:", ...lines].join("\n");
}

function operatorsOnly({ platform, sender }: CommandContext): string {
  return `Only an operator sees what all chats have used. To be one, "${platform}:${sender.id}" has to be in agent.operators of the config file.`;
}

function whoamiText({ platform, sender }: CommandContext): string {
  const name = sender.name === undefined ? "" : ` (${sender.name})`;
  return `Your ${title(platform)} user id: ${sender.id}${name}`;
}

function title(platform: string): string {
  return Object.hasOwn(PLATFORM_TITLES, platform)
    ? PLATFORM_TITLES[platform as keyof typeof PLATFORM_TITLES]
    : "web chat";
}
