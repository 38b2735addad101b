import * as z from "zod";
import { channels } from "./channels.ts";
import { models } from "./models.ts";
import { schedules } from "./schedules.ts";
import { tools } from "./tools.ts";
import { chatAddress, duration, secret, timeOfDay, timezone } from "./values.ts";

const gateway = z
  .strictObject({
    /** Bearer of the OpenAI-compatible routes and hooks on the gateway's port. Not set: they are closed. */
    token: secret.optional(),
  })
  .prefault({});

const agent = z
  .strictObject({
    /** Put before every conversation, ahead of the workspace's files. */
    instructions: z
      .string()
      .max(20_000)
      .default("You are steward, a helpful assistant in a team chat. Answer briefly and plainly."),
    /** Characters of the workspace's files that are put before the model, all together. */
    workspaceMaxChars: z.int().min(0).max(200_000).default(40_000),
    /** Questions to the model for one answer: the cap on loops of tools. */
    maxSteps: z.int().min(1).max(100).default(16),
    /** How long one answer may take, tools included. */
    timeout: duration.default("10m"),
    /** Asks the agent by itself from time to time whether there is anything to say. */
    heartbeat: z
      .strictObject({
        every: duration,
        to: chatAddress,
        prompt: z.string().min(1).max(4_000).optional(),
      })
      .optional(),
  })
  .prefault({});

const sessions = z
  .strictObject({
    /** Messages of a conversation that are put before the model. */
    historyLimit: z.int().min(2).max(1_000).default(60),
    /** When a conversation begins anew by itself. */
    reset: z
      .strictObject({
        /** Every day at this time. */
        dailyAt: timeOfDay.optional(),
        /** For `dailyAt`; default UTC. */
        timezone: timezone.optional(),
        /** After this long without a message. */
        idle: duration.optional(),
      })
      .prefault({}),
  })
  .prefault({});

const logging = z
  .strictObject({ level: z.enum(["debug", "info", "warning", "error"]).default("info") })
  .prefault({});

/** Schema of `steward.json`. Strict at every level: an unknown key stops the gateway. */
export const configSchema = z.strictObject({
  /** Where an editor finds the schema; not read. */
  $schema: z.string().optional(),
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
