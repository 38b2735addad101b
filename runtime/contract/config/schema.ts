import * as z from "zod";
import { channels } from "./channels.ts";
import { models } from "./models.ts";
import { schedules } from "./schedules.ts";
import { tools } from "./tools.ts";
import { chatAddress, duration, secret, timeOfDay, timezone } from "./values.ts";

const gateway = z
  .strictObject({
    token: secret
      .optional()
      .describe(
        "Bearer of the OpenAI-compatible routes and hooks on the gateway's port. Not set: they are closed.",
      ),
  })
  .prefault({});

const agent = z
  .strictObject({
    instructions: z
      .string()
      .max(20_000)
      .default("You are steward, a helpful assistant in a team chat. Answer briefly and plainly.")
      .describe("Put before every conversation, ahead of the workspace's files."),
    workspaceMaxChars: z
      .int()
      .min(0)
      .max(200_000)
      .default(40_000)
      .describe("Characters of the workspace's files that are put before the model, all together."),
    maxSteps: z
      .int()
      .min(1)
      .max(100)
      .default(16)
      .describe("Questions to the model for one answer: the cap on loops of tools."),
    timeout: duration.default("10m").describe("How long one answer may take, tools included."),
    heartbeat: z
      .strictObject({
        every: duration,
        to: chatAddress,
        prompt: z.string().min(1).max(4_000).optional(),
      })
      .optional()
      .describe("Asks the agent by itself from time to time whether there is anything to say."),
  })
  .prefault({});

const sessions = z
  .strictObject({
    historyLimit: z
      .int()
      .min(2)
      .max(1_000)
      .default(60)
      .describe("Messages of a conversation that are put before the model."),
    reset: z
      .strictObject({
        dailyAt: timeOfDay.optional().describe("Every day at this time."),
        timezone: timezone.optional().describe("For `dailyAt`; default UTC."),
        idle: duration.optional().describe("After this long without a message."),
      })
      .prefault({})
      .describe("When a conversation begins anew by itself."),
  })
  .prefault({});

const logging = z
  .strictObject({ level: z.enum(["debug", "info", "warning", "error"]).default("info") })
  .prefault({});

/** Schema of `steward.json`. Strict at every level: an unknown key stops the gateway. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().describe("Where an editor finds the schema; not read."),
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
