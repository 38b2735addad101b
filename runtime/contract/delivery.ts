import * as z from "zod/mini";

/** Platforms that send events. Other lists of platforms must match this one. */
export const platformSchema = z.enum(["slack", "telegram", "discord"]);

export type Platform = z.infer<typeof platformSchema>;

/** Content of a notice which tells a chat that an answer is late or will not come. */
const deliveryNoticeSchema = z.object({
  code: z.optional(z.string()),
  /** Next attempt, in milliseconds since the epoch. */
  nextAt: z.optional(z.number()),
  /** True if delivery has failed for a day and is not retried. */
  givenUp: z.optional(z.boolean()),
});

export type DeliveryNotice = z.infer<typeof deliveryNoticeSchema>;

/**
 * One verified event of a platform, as the ledger stores it and the gateway receives it. Events with the same
 * `conversation` (the chat key) are handled in order. `payload` is the platform's unchanged body.
 */
export const deliverySchema = z.strictObject({
  id: z.string().check(z.minLength(1), z.maxLength(256)),
  platform: platformSchema,
  conversation: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
  payload: z.record(z.string(), z.unknown()),
  /** Id of the chat's previous event. Set by edges that deliver one event per request. */
  after: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  /** True for the last attempt: if it fails, the gateway tells the person that there will be no answer. */
  last: z.optional(z.boolean()),
  /** If set, the gateway does not answer the event, but tells the person that the answer is late or will not come. */
  notice: z.optional(deliveryNoticeSchema),
});

export type Delivery = z.infer<typeof deliverySchema>;

/** Maximum number of names in one request. */
export const MAX_NAMES = 20;

/** Kinds of names that the edge looks up. */
export const NAME_KINDS = ["person", "group", "channel", "browser"] as const;

export type NameKind = (typeof NAME_KINDS)[number];

const wantedNameSchema = z.object({
  /** `<platform>:<id>` */
  key: z.string().check(z.maxLength(256)),
  kind: z.enum(NAME_KINDS),
});

export type WantedName = z.infer<typeof wantedNameSchema>;

/** Due events of one chat, in order. Each event is validated separately, with {@link deliverySchema}. */
export const chatDeliveriesSchema = z.object({
  /**
   * Id of the chat's previous event, if it is still in progress. If that event fails, all events in `deliveries` fail
   * too.
   */
  after: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  deliveries: z.array(z.unknown()).check(z.minLength(1)),
  /** People, chats and groups whose names the edge asks for. The response has a {@link LearnedName} for each. */
  names: z.optional(z.array(wantedNameSchema).check(z.maxLength(MAX_NAMES))),
});

export interface ChatDeliveries {
  after?: string | undefined;
  deliveries: readonly [Delivery, ...Delivery[]];
  names?: readonly WantedName[];
}

/** Reasons for admitting a sender: the values of `by` in `Admission` (message.ts). */
export const ADMITTED = ["approval", "config", "everyone", "browser", "group", "schedule", "hook"] as const;

export type Admitted = (typeof ADMITTED)[number];

/**
 * Entry for a name that the edge requested in {@link ChatDeliveries}. One line of the response, `{names:
 * LearnedName[]}`, contains all entries. Every other line is a {@link DeliveryEnd}.
 */
export interface LearnedName {
  key: string;
  /** Absent if the platform does not provide it. */
  name?: string | undefined;
}

/**
 * Result of one event of {@link ChatDeliveries}: what the gateway would have responded if the request had contained
 * only this event.
 */
export interface DeliveryEnd {
  /** Index of the event in the request, from 0. */
  index: number;
  status: number;
  /** As in the `Retry-After` header. */
  retryAfter?: string;
  /** Milliseconds between the first text sent for the event (answer or notice) and this result. */
  firstWordMs?: number | undefined;
  admitted?: Admitted | undefined;
  /** A {@link DeliveryOutcome}, or a problem document. */
  body: unknown;
}

/**
 * Result of a delivery. `answered`: a reply was sent, or the chat accepts none. `ignored`: the event needs no answer.
 * `failed`: a retry would not help. `repeated`: the event was answered before. Other failures are problem documents:
 * the edge retries statuses 503 and 429, but not 400.
 */
export interface DeliveryOutcome {
  outcome: "answered" | "ignored" | "failed" | "repeated";
  /**
   * For `ignored`: the reason. For `failed`: the reason, and whether the person was informed. For events answered
   * together: the event that received the reply.
   */
  note?: string;
  /** Group's id. Set only if the outcome is `ignored` because the config does not list the group. */
  group?: string;
  /** Change that the event reports: a group has moved to a new id. The activity page shows this change. */
  change?: { action: "move"; detail: string };
}

export const PLATFORM_TITLES: Record<Platform, string> = {
  slack: "Slack",
  telegram: "Telegram",
  discord: "Discord",
};
