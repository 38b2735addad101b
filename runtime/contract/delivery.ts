import * as z from "zod/mini";

/** The platforms that send events. */
export const platformSchema = z.enum(["slack", "telegram", "discord"]);

/** A chat platform. */
export type Platform = z.infer<typeof platformSchema>;

/** Reason why an event waits, for the people in its chat. */
const deliveryNoticeSchema = z.object({
  /** The error code, if one is known. */
  code: z.optional(z.string()),
  /** Time of the next attempt, milliseconds since the epoch. */
  nextAt: z.optional(z.number()),
  /** There is no further attempt: nothing could answer for a day. */
  givenUp: z.optional(z.boolean()),
});

/** See {@link deliveryNoticeSchema}. */
export type DeliveryNotice = z.infer<typeof deliveryNoticeSchema>;

/**
 * One verified event of a platform, as the ledger keeps it and the gateway receives it.
 * `id` is the platform's own event id; `conversation` is the chat key: what shares it stays in order;
 * `payload` is the platform's body as it came.
 */
export const deliverySchema = z.strictObject({
  id: z.string().check(z.minLength(1), z.maxLength(256)),
  platform: platformSchema,
  conversation: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
  payload: z.record(z.string(), z.unknown()),
  /** Set by an edge that hands over one event a request; see {@link chatDeliveriesSchema}. */
  after: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  /** True for the last attempt: if it fails, the person is told that there will be no answer. */
  last: z.optional(z.boolean()),
  /**
   * If set, the gateway does not answer the event, but tells the person that it waits, unless it has said something
   * already.
   */
  notice: z.optional(deliveryNoticeSchema),
});

/** See {@link deliverySchema}. */
export type Delivery = z.infer<typeof deliverySchema>;

/** The events of one chat that are due, in their order. Each is read for itself: see {@link deliverySchema}. */
export const chatDeliveriesSchema = z.object({
  /** The id of the chat's last event before these, where it is still under way: they fail where it has failed. */
  after: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  deliveries: z.array(z.unknown()).check(z.minLength(1)),
});

/** See {@link chatDeliveriesSchema}. */
export interface ChatDeliveries {
  after?: string | undefined;
  deliveries: readonly [Delivery, ...Delivery[]];
}

/** The end of one event of {@link ChatDeliveries}: the answer that it would get as a request of its own. */
export interface DeliveryEnd {
  /** Its place in the request, from 0. */
  index: number;
  status: number;
  /** As in the header of this name. */
  retryAfter?: string;
  /** A {@link DeliveryOutcome}, or a problem document. */
  body: unknown;
}

/**
 * End of a delivery. `answered`: a reply is out, or the chat takes none; `ignored`: nothing to say (a bot's own message,
 * a notice); `failed`: no answer can be made, and another attempt would not help; `repeated`: it was answered before.
 *
 * A delivery that did not end well is a problem document: 503 or 429 (with Retry-After where
 * known) is tried again, 400 is not.
 */
export interface DeliveryOutcome {
  outcome: "answered" | "ignored" | "failed" | "repeated";
  /**
   * The reason for `ignored`. For `failed` the reason, and whether the person has been told. For `answered` without a
   * reply of its own, the event with which it was answered.
   */
  note?: string;
  /** For `ignored`: the group that an operator would have to list for its messages to be answered, by its id. */
  group?: string;
  /** Something that the event itself changed, as the page of the activity shows it. */
  change?: { action: "move"; detail: string };
}

/** Names of the platforms for people. */
export const PLATFORM_TITLES: Record<Platform, string> = {
  slack: "Slack",
  telegram: "Telegram",
  discord: "Discord",
};
