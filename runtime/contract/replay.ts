import * as z from "zod/mini";
import { type Platform, platformSchema } from "./delivery.ts";
import { MOST_REPLAYED } from "./environment.ts";

/**
 * Record of past events that a rollout gives to the next version. The running version redacts it before it leaves the
 * service: its payloads have the form of the events and no word of a person.
 */

/** Larger events, in characters of JSON, are left out of a record. */
export const LONGEST_REPLAYED = 64 * 1024;

/** Reports show these words, so they have no markup. */
const word = z.string().check(z.regex(/^[a-z ]{1,40}$/));

/** Result of reading one event. Two versions that agree give the same one. */
const outcomeSchema = z.object({
  /** `message`, `command`, `edit` or a kind of {@link Inbound}; `error` if the version cannot read the event. */
  kind: word,
  /** Grounds for admitting the sender, such as `config operator`. */
  admitted: z.optional(word),
});

/** See {@link outcomeSchema}. */
export type Outcome = z.infer<typeof outcomeSchema>;

const ids = z.array(z.string());
const group = z.object({ enabled: z.boolean(), requireMention: z.boolean() });

/** Access rules and identity that a channel reads events with. All ids are pseudonyms. */
const readingSchema = z.object({
  rules: z.object({
    dmPolicy: z.enum(["pairing", "allowlist", "open", "disabled"]),
    allowFrom: ids,
    groupPolicy: z.enum(["open", "allowlist", "disabled"]),
    groupAllowFrom: ids,
    groups: z.record(z.string(), group),
    operators: ids,
  }),
  /** Roles that were granted by approval, by person. */
  granted: z.record(z.string(), z.enum(["operator", "person"])),
  /** Identity that Telegram addresses the bot by. */
  bot: z.optional(z.object({ id: z.string(), username: z.optional(z.string()) })),
  /** Former ids of groups, by their current ids. */
  moved: z.record(z.string(), z.string()),
  mediaMaxBytes: z.number(),
});

/** See {@link readingSchema}. */
export type Reading = z.infer<typeof readingSchema>;

/** Events that are not part of a record, by reason. */
const leftSchema = z.object({
  /** Larger than {@link LONGEST_REPLAYED}. */
  tooLarge: z.number(),
  /** Of a channel that is switched off, or not readable as an event. */
  unread: z.number(),
  /** Redaction would change their outcome, so a comparison would say nothing. */
  changed: z.number(),
});

/** A redacted record of the newest events, and what the running version makes of each. */
export const replayRecordSchema = z.object({
  /** Changes with the record's form. */
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
    .check(z.maxLength(MOST_REPLAYED)),
  /**
   * Time to read an event, divided by the time to parse its JSON: the median. The ratio allows comparing two machines.
   */
  cost: z.number(),
  left: leftSchema,
});

/** See {@link replayRecordSchema}. */
export type ReplayRecord = z.infer<typeof replayRecordSchema>;

/** A version's outcomes of a record's events, in their order. */
export const replayedSchema = z.object({ outcomes: z.array(outcomeSchema), cost: z.number() });

/** See {@link replayedSchema}. */
export type Replayed = z.infer<typeof replayedSchema>;

/** Request of the edge to its gateway for a record: deliveries as the ledger stores them, newest first. */
export const replayRequestSchema = z.object({ deliveries: z.array(z.unknown()) });
