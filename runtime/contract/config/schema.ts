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
      "Bearer of the OpenAI-compatible routes and hooks on the gateway's port. Not set: they are closed.",
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
    "Other chats that the agent may write to when the heartbeat asks it. Not set: none.",
  ),
});

const limits = z.strictObject({
  messagesPerMinute: withHelp(
    z.optional(integer(1, 10_000)),
    "Messages of one person that are answered within a minute; whoever sends more is asked to wait. Not set: no limit.",
  ),
  workspaceMiB: withHelp(
    z._default(integer(1, 1_000_000), 256),
    "MiB that the agent's files may take, all together.",
  ),
  groupMiB: withHelp(z._default(integer(1, 1_000_000), 16), "MiB that the folder of one group may take."),
  tokensPerDay: withHelp(
    z.optional(integer(1_000, 10_000_000_000)),
    "Tokens that one chat, and one person, may take in a day (UTC). Not set: no limit.",
  ),
});

const agent = z.prefault(
  z.strictObject({
    instructions: withHelp(
      z._default(
        z.string().check(z.maxLength(20_000)),
        "You are steward, a helpful assistant in a team chat. Answer briefly and plainly.",
      ),
      "Put before every conversation, ahead of the workspace's files.",
    ),
    workspaceMaxChars: withHelp(
      z._default(integer(0, 200_000), 40_000),
      "Characters of the workspace's files that are put before the model, all together.",
    ),
    maxSteps: withHelp(
      z._default(integer(1, 100), 16),
      "Questions to the model for one answer: the cap on loops of tools.",
    ),
    timeout: withHelp(z._default(duration, "10m"), "How long one answer may take, tools included."),
    noticeAfter: withHelp(
      z._default(duration, "60s"),
      "If an answer has not begun after this time, the chat gets a notice that it takes longer.",
    ),
    operators: withHelp(
      z._default(z.array(operatorId), []),
      "People who may do what `may` leaves to operators once they are let in, each as `<platform>:<user id>`; /whoami tells the id. An approval with --operator grants the same.",
    ),
    may: withHelp(
      rights,
      "Which roles may do what: operator, person (in a direct chat, approved or listed), group, guest (let in by `*`). Schedules act as a group, with no more rights than the people who made them.",
    ),
    limits: withHelp(z.prefault(limits, {}), "What one chat or person may take of the bot."),
    heartbeat: withHelp(
      z.optional(heartbeat),
      "Asks the agent at intervals whether there is anything to say.",
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
  // An event may come again for a week, and finds its answer in the transcript.
  days: withHelp(
    z.optional(integer(7, 3_650)),
    "Messages older than this many days are removed. Not set: they stay.",
  ),
  messages: withHelp(
    z.optional(integer(1_000, 10_000_000)),
    "Messages that one conversation keeps; the oldest go first. Not set: all.",
  ),
});

const sessions = z.prefault(
  z.strictObject({
    historyLimit: withHelp(
      z._default(integer(2, 1_000), 60),
      "Messages of a conversation that are put before the model.",
    ),
    reset: withHelp(z.prefault(reset, {}), "When a conversation starts over automatically."),
    retention: withHelp(
      z.prefault(retention, {}),
      "What is removed from transcripts. A rule that is new acts after a day; `steward status` tells what will go.",
    ),
  }),
  {},
);

const logging = z.prefault(
  z.strictObject({ level: z._default(z.enum(["debug", "info", "warning", "error"]), "info") }),
  {},
);

/** Schema of `steward.json`. Strict at every level: an unknown key stops the gateway. */
export const configSchema = z.strictObject({
  $schema: withHelp(z.optional(z.string()), "Where an editor finds the schema; not read."),
  gateway,
  agent,
  models,
  channels,
  sessions,
  schedules,
  tools,
  logging,
});

/** A config file's content after defaults. */
export type Config = z.output<typeof configSchema>;
