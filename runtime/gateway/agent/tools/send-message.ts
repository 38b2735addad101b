import * as z from "zod/mini";
import type { Config } from "../../../contract/config/index.ts";
import { described, textUpTo } from "../../../contract/config/values.ts";
import { platformSchema } from "../../../contract/delivery.ts";
import type { Channels } from "../../channels/registry.ts";
import { defineTool, ToolError, type Tool, type ToolContext } from "./tool.ts";

interface Address {
  platform: string;
  chat: string;
}

/** Facts that decide where the agent may speak. */
export interface SendMessageOptions {
  config: Config;
  channels: Pick<Channels, "get">;
}

/**
 * Says something in a chat. Where: the chat that the question came from, or one that the operator named
 * in the config (`tools.sendMessage.to`, `schedules.*.to`, `agent.heartbeat.to`). Any other would let
 * people who write to the bot, or a page that it reads, make it write to others.
 */
export function sendMessageTool(options: SendMessageOptions): Tool {
  return defineTool({
    name: "send_message",
    description: "Sends a message to a chat. Your answer needs no tool: it is sent automatically.",
    input: z.strictObject({
      platform: platformSchema,
      chat: described(textUpTo(128), "The platform's own id of the chat"),
      thread: z.optional(textUpTo(128)),
      text: z.string().check(z.trim(), z.minLength(1), z.maxLength(20_000)),
    }),
    run: async ({ platform, chat, thread, text }, context) => {
      if (!mayReach({ platform, chat }, options, context)) {
        throw new ToolError("Not allowed: only this chat, and chats that the config names.");
      }
      const channel = options.channels.get(platform);
      if (channel === undefined) throw new ToolError(`${platform} is not configured.`);
      const target = { chat, ...(thread !== undefined && { thread }) };
      for (const [index, part] of channel.split(text).entries()) {
        if (context.signal.aborted) throw new ToolError("Broken off.");
        await channel.send(target, part, index);
      }
      return "Sent.";
    },
  });
}

function isHere({ platform, chat }: Address, context: ToolContext): boolean {
  return platform === context.platform && chat === context.target.chat;
}

function mayReach(to: Address, { config }: SendMessageOptions, context: ToolContext): boolean {
  if (isHere(to, context)) return true;
  if (!context.may("sendElsewhere")) return false;
  const same = (other: Address | undefined): boolean =>
    other?.platform === to.platform && other.chat === to.chat;
  const { tools, schedules, agent } = config;
  const named = [...tools.sendMessage.to, ...Object.values(schedules).map((one) => one.to)];
  return [...named, agent.heartbeat?.to].some(same);
}
