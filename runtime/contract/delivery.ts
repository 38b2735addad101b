import * as z from "zod/mini";

/** The platforms that send events. Other lists of platforms derive from this one or are checked against it. */
export const platformSchema = z.enum(["slack", "telegram", "discord"]);

/** A chat platform. */
export type Platform = z.infer<typeof platformSchema>;

/** Why an event waits, and until when, as shown in its chat. */
const deliveryNoticeSchema = z.object({
  /** The error code, if one is known. */
  code: z.optional(z.string()),
  /** Time of the next attempt, milliseconds since the epoch. */
  nextAt: z.optional(z.number()),
  /** There will be no further attempt: the gateway could not answer for a day. */
  givenUp: z.optional(z.boolean()),
});

/** See {@link deliveryNoticeSchema}. */
export type DeliveryNotice = z.infer<typeof deliveryNoticeSchema>;

/**
 * One verified event of a platform, as the ledger stores it and the gateway receives it. `id` is the platform's event
 * id. `conversation` is the chat key: events with the same key are handled in order. `payload` is the platform's
 * unchanged body.
 */
export const deliverySchema = z.strictObject({
  id: z.string().check(z.minLength(1), z.maxLength(256)),
  platform: platformSchema,
  conversation: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
  payload: z.record(z.string(), z.unknown()),
  /** Set by edges that deliver one event per request; see {@link chatDeliveriesSchema}. */
  after: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  /** True for the last attempt: if it fails, the gateway tells the person that there will be no answer. */
  last: z.optional(z.boolean()),
  /**
   * If set, the gateway does not answer the event; it tells the person about the delay, unless it already posted
   * something.
   */
  notice: z.optional(deliveryNoticeSchema),
});

/** See {@link deliverySchema}. */
export type Delivery = z.infer<typeof deliverySchema>;

/** Names that one request may ask for. */
export const MOST_NAMES = 20;

/** Kinds of what has a name. A group has several readers and its own members; a channel is often a part of one. */
export const NAME_KINDS = ["person", "group", "channel", "browser"] as const;

/** See {@link NAME_KINDS}. */
export type NameKind = (typeof NAME_KINDS)[number];

const wantedNameSchema = z.object({
  /** `<platform>:<id>` */
  key: z.string().check(z.maxLength(256)),
  kind: z.enum(NAME_KINDS),
});

/** A person or a place whose name is wanted. */
export type WantedName = z.infer<typeof wantedNameSchema>;

/** Events of one chat that are due, in order. Each one is parsed separately: see {@link deliverySchema}. */
export const chatDeliveriesSchema = z.object({
  /** Id of the chat's previous event if it is still in progress: if that event fails, these fail too. */
  after: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  deliveries: z.array(z.unknown()).check(z.minLength(1)),
  /** People and places whose names the edge wants to know; see {@link LearnedName}. */
  names: z.optional(z.array(wantedNameSchema).check(z.maxLength(MOST_NAMES))),
});

/** See {@link chatDeliveriesSchema}. */
export interface ChatDeliveries {
  after?: string | undefined;
  deliveries: readonly [Delivery, ...Delivery[]];
  names?: readonly WantedName[];
}

/** Reasons for which a sender is admitted: `by` of `Admission` in message.ts. */
export const ADMITTED = ["approval", "config", "everyone", "browser", "group", "schedule", "hook"] as const;

/** See {@link ADMITTED}. */
export type Admitted = (typeof ADMITTED)[number];

/**
 * Name of a person or a place that the edge has asked for. The names of a request come as `{names: LearnedName[]}`, in a
 * separate line among those of {@link DeliveryEnd}.
 */
export interface LearnedName {
  key: string;
  /** Absent if the platform does not tell it. */
  name?: string | undefined;
}

/** Result of one event of {@link ChatDeliveries}, equivalent to the response of a separate request. */
export interface DeliveryEnd {
  /** Index of the event in the request, from 0. */
  index: number;
  status: number;
  /** As in the `Retry-After` header. */
  retryAfter?: string;
  /** Milliseconds since the chat got the first word of the answer, or a notice. */
  firstWordMs?: number | undefined;
  /** The reason for which the sender is admitted. */
  admitted?: Admitted | undefined;
  /** A {@link DeliveryOutcome}, or a problem document. */
  body: unknown;
}

/**
 * Result of a delivery. `answered`: a reply was sent, or the chat accepts none; `ignored`: nothing to answer (a bot's
 * own message, a notice); `failed`: no answer is possible, and another attempt would not help; `repeated`: it was
 * answered before. Errors are problem documents: 503 and 429 (with Retry-After if known) are retried, 400 is not.
 */
export interface DeliveryOutcome {
  outcome: "answered" | "ignored" | "failed" | "repeated";
  /**
   * For `ignored`: the reason. For `failed`: the reason, and whether the person has been told. For `answered` without a
   * reply of its own: the event that was answered together with this one.
   */
  note?: string;
  /** For `ignored`: id of the group that an operator would have to list to have its messages answered. */
  group?: string;
  /** A change caused by the event itself, for the activity page. */
  change?: { action: "move"; detail: string };
}

/** Display names of the platforms. */
export const PLATFORM_TITLES: Record<Platform, string> = {
  slack: "Slack",
  telegram: "Telegram",
  discord: "Discord",
};
