import * as z from "zod/mini";
import { schedule } from "../../../contract/config/schedules.ts";
import { withHelp, textUpTo } from "../../../contract/config/values.ts";
import { platformSchema } from "../../../contract/delivery.ts";
import type { SchedulesPort } from "../../schedules/port.ts";
import { defineTool, ToolError, type Tool } from "./tool.ts";

const short = z.optional(textUpTo(4_000));

export function scheduleTool(schedules: SchedulesPort): Tool {
  return defineTool({
    name: "schedule",
    needs: "schedule",
    description:
      "Creates, lists or removes schedules that post to this chat. To add one, give exactly one of at " +
      "(ISO 8601 with offset), every (such as 30m), cron (five fields, with timezone), and exactly one " +
      "of text (posted unchanged) and prompt (sent to you when due; your answer is posted).",
    input: z.strictObject({
      action: z.enum(["add", "list", "remove"]),
      id: withHelp(z.optional(z.string().check(z.maxLength(128))), "For remove"),
      at: short,
      every: short,
      cron: short,
      timezone: short,
      text: short,
      prompt: short,
    }),
    run: async ({ action, id, ...spec }, { platform, target, roles }) => {
      const known = platformSchema.safeParse(platform);
      if (!known.success) throw new ToolError("Schedules can post only to chats of a platform, not here.");
      const chat = { platform: known.data, chat: target.chat };
      if (action === "list") {
        const lines = schedules
          .list(chat)
          .map(({ id: one, spec: { at, every, cron, timezone, text, prompt }, nextAt }) => {
            const what = { at, every, cron, timezone, text, prompt };
            const next = nextAt === undefined ? "not due again" : `next at ${new Date(nextAt).toISOString()}`;
            return `${one}: ${JSON.stringify(what)}, ${next}`;
          });
        return lines.length === 0 ? "There are none." : lines.join("\n");
      }
      if (action === "remove") {
        if (id === undefined) throw new ToolError("id is missing.");
        schedules.remove(id, chat);
        return `Removed: ${id}.`;
      }
      const to = { ...chat, ...(target.thread !== undefined && { thread: target.thread }) };
      const checked = schedule.safeParse({ ...spec, to });
      if (!checked.success) throw new ToolError(`Wrong input: ${z.prettifyError(checked.error)}`);
      const added = await schedules.add(checked.data, roles);
      return `Added: ${added.id}, next at ${added.nextAt}.`;
    },
  });
}
