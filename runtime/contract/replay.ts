import * as z from "zod/mini";
import { type Platform, platformSchema } from "./delivery.ts";
import { MAX_REPLAYED } from "./environment.ts";

/**
 * Record of past events that a rollout replays with the next version. The running version redacts it first: payloads
 * keep their structure, but not the text that people wrote.
 */

/** Maximum length of an event in a record, in characters of JSON. */
export const LONGEST_REPLAYED = 64 * 1024;

/** Schema of a short phrase in a report. The phrase must not contain markup. */
const word = z.string().check(z.regex(/^[a-z ]{1,40}$/));

/** Result of reading one event. Two versions agree if their results are equal. */
const outcomeSchema = z.object({
  /** `message`, `command`, `edit` or a kind of {@link Inbound}; `error` if the event could not be read. */
  kind: word,
  /** Reason for admitting the sender, such as `config operator`. */
  admitted: z.optional(word),
});

export type Outcome = z.infer<typeof outcomeSchema>;

const ids = z.array(z.string());
const group = z.object({ enabled: z.boolean(), requireMention: z.boolean() });

/** Access rules and bot identity with which a channel reads events. All ids are pseudonyms. */
const readingSchema = z.object({
  rules: z.object({
    dmPolicy: z.enum(["pairing", "allowlist", "open", "disabled"]),
    allowFrom: ids,
    groupPolicy: z.enum(["open", "allowlist", "disabled"]),
    groupAllowFrom: ids,
    groups: z.record(z.string(), group),
    operators: ids,
  }),
  /** Roles from approvals, by person. */
  granted: z.record(z.string(), z.enum(["operator", "person"])),
  /** Id and user name by which messages mention the bot. */
  bot: z.optional(z.object({ id: z.string(), username: z.optional(z.string()) })),
  /** Previous ids of groups, by their current ids. */
  moved: z.record(z.string(), z.string()),
  mediaMaxBytes: z.number(),
});

export type Reading = z.infer<typeof readingSchema>;

/** Counts of the events that a record leaves out, by reason. */
const leftSchema = z.object({
  /** Larger than {@link LONGEST_REPLAYED}. */
  tooLarge: z.number(),
  /** From a disabled channel, or malformed. */
  unread: z.number(),
  /** Number of events whose outcome is changed by redaction, which makes them unsuitable for a comparison. */
  changed: z.number(),
});

/** Redacted record of the newest events, each with the result that the running version produced for it. */
export const replayRecordSchema = z.object({
  /** Version of the record's format. */
  form: z.literal(1),
  readings: z.object(
    Object.fromEntries(platformSchema.options.map((name) => [name, z.optional(readingSchema)])) as Record<
      Platform,
      z.ZodMiniOptional<typeof readingSchema>
    >,
  ),
  events: z
    .array(
      z.object({
        platform: platformSchema,
        payload: z.record(z.string(), z.unknown()),
        outcome: outcomeSchema,
      }),
    )
    .check(z.maxLength(MAX_REPLAYED)),
  /**
   * Median cost of reading an event: the time to read it, divided by the time to parse its JSON. Comparable between
   * machines.
   */
  cost: z.number(),
  left: leftSchema,
});

export type ReplayRecord = z.infer<typeof replayRecordSchema>;

/** A version's outcomes for the events of a record, in the order of the events. */
export const replayedSchema = z.object({ outcomes: z.array(outcomeSchema), cost: z.number() });

export type Replayed = z.infer<typeof replayedSchema>;

/** Request from the edge for a {@link ReplayRecord} of the given deliveries, which are sorted newest first. */
export const replayRequestSchema = z.object({ deliveries: z.array(z.unknown()) });
