import * as z from "zod/mini";
import { channels } from "./channels.ts";
import { operatorId, sendElsewhere } from "./ids.ts";
import { models } from "./models.ts";
import { rights } from "./rights.ts";
import { schedules } from "./schedules.ts";
import { tools } from "./tools.ts";
import { chatAddress, withHelp, duration, integer, secret, textUpTo, timeOfDay, timezone } from "./values.ts";

const gateway = z.prefault(
  z.strictObject({
    token: withHelp(
      z.optional(secret),
      "Bearer token for the OpenAI-compatible routes and hooks on the gateway's port. Not set: they are closed.",
    ),
  }),
  {},
);

const heartbeat = z.strictObject({
  every: duration,
  to: chatAddress,
  prompt: z.optional(textUpTo(4_000)),
  sendElsewhere: withHelp(
    z.optional(sendElsewhere),
    "Other chats to which the agent may send messages during a heartbeat. Not set: none.",
  ),
});

const limits = z.strictObject({
  messagesPerMinute: withHelp(
    z.optional(integer(1, 10_000)),
    "Maximum number of messages per person and minute; people who send more are asked to wait. Not set: no limit.",
  ),
  workspaceMiB: withHelp(
    z._default(integer(1, 1_000_000), 256),
    "Maximum size of all the agent's files together, in MiB.",
  ),
  groupMiB: withHelp(z._default(integer(1, 1_000_000), 16), "Maximum size of one group's folder, in MiB."),
  tokensPerDay: withHelp(
    z.optional(integer(1_000, 10_000_000_000)),
    "Maximum number of tokens per day (UTC), for each chat and for each person. Not set: no limit.",
  ),
});

const agent = z.prefault(
  z.strictObject({
    instructions: withHelp(
      z._default(
        z.string().check(z.maxLength(20_000)),
        "You are steward, a helpful assistant in a team chat. Answer briefly and plainly.",
      ),
      "Start of every conversation's prompt, before the workspace's files.",
    ),
    workspaceMaxChars: withHelp(
      z._default(integer(0, 200_000), 40_000),
      "Maximum number of characters of the workspace's files in the prompt, all files together.",
    ),
    maxSteps: withHelp(
      z._default(integer(1, 100), 16),
      "Maximum number of requests to the model for one answer. This limits loops of tool calls.",
    ),
    timeout: withHelp(z._default(duration, "10m"), "How long one answer may take, including tools."),
    noticeAfter: withHelp(
      z._default(duration, "60s"),
      "If an answer has not begun after this time, the chat gets a notice that it takes longer.",
    ),
    operators: withHelp(
      z._default(z.array(operatorId), []),
      "People with the role operator, each as `<platform>:<user id>`; /whoami shows the id. The role does not admit them to the bot. An approval with --operator grants the same role.",
    ),
    may: withHelp(
      rights,
      "Which roles may do what. Roles: operator, person (in a direct chat, approved or listed), group, guest (admitted by `*`). A schedule has the role group, and no more rights than the people who created it.",
    ),
    limits: withHelp(z.prefault(limits, {}), "Limits per chat and person, and for the agent's files."),
    heartbeat: withHelp(
      z.optional(heartbeat),
      "Asks the agent at intervals whether it has anything to report.",
    ),
  }),
  {},
);

const reset = z.strictObject({
  dailyAt: withHelp(z.optional(timeOfDay), "Every day at this time."),
  timezone: withHelp(z.optional(timezone), "For `dailyAt`; default UTC."),
  idle: withHelp(z.optional(duration), "After this long without a message."),
});

const retention = z.strictObject({
  // At least 7 days: an event may be redelivered for a week, and the transcript shows whether it was already answered.
  days: withHelp(
    z.optional(integer(7, 3_650)),
    "Messages older than this many days are removed. Not set: no limit.",
  ),
  messages: withHelp(
    z.optional(integer(1_000, 10_000_000)),
    "Maximum number of messages per conversation; the oldest are removed first. Not set: no limit.",
  ),
});

const sessions = z.prefault(
  z.strictObject({
    historyLimit: withHelp(
      z._default(integer(2, 1_000), 60),
      "Maximum number of a conversation's messages in the prompt.",
    ),
    reset: withHelp(z.prefault(reset, {}), "When a conversation starts over automatically."),
    retention: withHelp(
      z.prefault(retention, {}),
      "Removes old messages from transcripts. A new rule takes effect after a day; until then `steward status` shows how many messages it will remove.",
    ),
  }),
  {},
);

const logging = z.prefault(
  z.strictObject({ level: z._default(z.enum(["debug", "info", "warning", "error"]), "info") }),
  {},
);

/** Schema of `steward.json`. An unknown key at any level prevents the gateway from starting. */
export const configSchema = z.strictObject({
  $schema: withHelp(z.optional(z.string()), "Address of the JSON Schema, for editors. steward ignores it."),
  gateway,
  agent,
  models,
  channels,
  sessions,
  schedules,
  tools,
  logging,
});

/** The config after defaults. */
export type Config = z.output<typeof configSchema>;
