import type { ChatAddress } from "../../../contract/message.ts";
import * as z from "zod/mini";
import { withHelp, textUpTo } from "../../../contract/config/values.ts";
import { platformSchema } from "../../../contract/delivery.ts";
import { isSameChat } from "../../admission.ts";
import type { Channels } from "../../channels/registry.ts";
import { defineTool, ToolError, type Tool, type ToolContext } from "./tool.ts";

export interface SendMessageOptions {
  channels: Pick<Channels, "get">;
}

/**
 * Creates a tool that sends a message to the current chat or to a chat that the config allows. If any target were
 * allowed, a person or a fetched page could make the bot write to strangers.
 */
export function sendMessageTool({ channels }: SendMessageOptions): Tool {
  return defineTool({
    name: "send_message",
    description: "Sends a message to a chat. Your answer needs no tool: it is sent automatically.",
    input: z.strictObject({
      platform: platformSchema,
      chat: withHelp(textUpTo(128), "The platform's own id of the chat"),
      thread: z.optional(textUpTo(128)),
      text: z.string().check(z.trim(), z.minLength(1), z.maxLength(20_000)),
    }),
    run: async ({ platform, chat, thread, text }, context) => {
      const isListed = context.sendsTo.some((listed) => isSameChat(listed, { platform, chat }));
      if (!isListed && !isHere({ platform, chat }, context)) {
        throw new ToolError("Not allowed: only this chat, and chats that the config lists for it.");
      }
      const channel = channels.get(platform);
      if (channel === undefined) throw new ToolError(`${platform} is not configured.`);
      const target = { chat, ...(thread !== undefined && { thread }) };
      for (const [index, part] of channel.split(text).entries()) {
        if (context.signal.aborted) throw new ToolError("The answer was stopped.");
        await channel.send(target, part, index);
      }
      return "Sent.";
    },
  });
}

function isHere({ platform, chat }: ChatAddress, context: ToolContext): boolean {
  return platform === context.platform && chat === context.target.chat;
}
