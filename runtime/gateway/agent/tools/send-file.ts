import * as z from "zod/mini";
import { withHelp, textUpTo } from "../../../contract/config/values.ts";
import { platformSchema } from "../../../contract/delivery.ts";
import type { Log } from "../../../shared/log.ts";
import type { Channel } from "../../channels/channel.ts";
import type { Channels } from "../../channels/registry.ts";
import { mediaTypeOf } from "../../media/types.ts";
import { WEB, type WebOutbox } from "../../webchat/outbox.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Place } from "../question.ts";
import { reachOf } from "../reach.ts";
import { defineTool, ToolError, type Tool } from "./tool.ts";

export interface SendFileOptions {
  workspace: Workspace;
  channels: Pick<Channels, "get">;
  outbox: Pick<WebOutbox, "sendFile" | "maxBytes">;
  log: Log;
}

/** Creates a tool that sends a file to the chat that asked, if this chat may read the file. */
export function sendFileTool({ workspace, channels, outbox, log }: SendFileOptions): Tool {
  const filesOf = (place: Place["platform"]): Channel["files"] => {
    const { data: platform } = platformSchema.safeParse(place);
    return platform === undefined ? undefined : channels.get(platform)?.files;
  };
  const mostBytes = (place: Place["platform"]): number | undefined =>
    place === WEB ? outbox.maxBytes : filesOf(place)?.maxBytes;
  const tool = defineTool({
    name: "send_file",
    needs: "sendFiles",
    description:
      "Sends a file of the workspace, also one that a tool returned, into this chat, with a caption if you give one.",
    input: z.strictObject({
      path: withHelp(textUpTo(500), "Path in the workspace, for example notes/plan.md"),
      caption: withHelp(z.optional(z.string().check(z.maxLength(1_000))), "Plain text below the file"),
    }),
    run: async ({ path, caption }, context) => {
      const { session, platform, target, delivery, signal } = context;
      const maxBytes = mostBytes(platform);
      if (maxBytes === undefined) throw new ToolError("Files cannot be sent into this chat.");
      const data = reachOf(workspace, context).bytes(path);
      if (data === undefined) throw new ToolError(`There is no file ${path}.`);
      const { byteLength: bytes } = data;
      if (bytes === 0) throw new ToolError(`${path} is empty. Chats accept no empty files.`);
      if (bytes > maxBytes) {
        throw new ToolError(`${path} has ${bytes} bytes; ${platform} accepts at most ${maxBytes}.`);
      }
      if (signal.aborted) throw new ToolError("The answer was stopped.");
      const name = path.split("/").at(-1) ?? path;
      if (platform === WEB) outbox.sendFile(session, { delivery, path, data, caption });
      else await filesOf(platform)?.send(target, { name, mediaType: mediaTypeOf(name), data }, caption);
      log.info("a file is sent", { platform, chat: target.chat, bytes });
      return "Sent.";
    },
  });
  return { ...tool, worksOn: (platform) => mostBytes(platform) !== undefined };
}
