import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../../contract/config/index.ts";
import { deliverySchema, type Platform, platformSchema } from "../../contract/delivery.ts";
import { MAX_REPLAYED } from "../../contract/environment.ts";
import { LONGEST_REPLAYED, type Outcome, type Reading, type ReplayRecord } from "../../contract/replay.ts";
import type { Channel } from "../channels/channel.ts";
import { accessRules } from "../../shared/channel-access.ts";
import type { ChatMoves } from "../channels/telegram/moves.ts";
import type { PairingStore } from "../pairing/store.ts";
import { costOf, median, outcomeOf, type Read, readerOf } from "./read.ts";
import { createRedaction } from "./redact.ts";

export interface ReplayRecordOptions {
  config: Config;
  channels: { get(platform: Platform): Pick<Channel, "bot" | "mediaMaxBytes"> | undefined };
  pairing(platform: Platform): Pick<PairingStore, "approved" | "operators">;
  moves: Pick<ChatMoves, "all">;
  /** Secret key for the pseudonyms of this record. */
  key: Uint8Array;
  /** Milliseconds, for measuring. */
  now(): number;
}

/**
 * Creates a replay record: redacted past events, each with the result of parsing it. Omits an event if redaction
 * changes the result.
 *
 * @param deliveries entries of the ledger; only the first {@link MAX_REPLAYED} are used
 */
export async function createReplayRecord(
  deliveries: readonly unknown[],
  options: ReplayRecordOptions,
): Promise<ReplayRecord> {
  const redaction = createRedaction(options.key);
  const readings: ReplayRecord["readings"] = {};
  const readers = new Map<Platform, { original: Read; redacted: Read }>();
  for (const platform of platformSchema.options) {
    const original = readingOf(platform, options);
    if (original === undefined) continue;
    const redacted = redaction.reading(original);
    readings[platform] = redacted;
    readers.set(platform, {
      original: readerOf(platform, original),
      redacted: readerOf(platform, redacted),
    });
  }
  const left = { tooLarge: 0, unread: 0, changed: 0 };
  const events: ReplayRecord["events"] = [];
  const costs: number[] = [];
  for (const delivery of deliveries.slice(0, MAX_REPLAYED)) {
    await nextTurn();
    if (delivery === null || JSON.stringify(delivery).length > LONGEST_REPLAYED) {
      left.tooLarge += 1;
      continue;
    }
    const { data } = deliverySchema.safeParse(delivery);
    const reader = data && readers.get(data.platform);
    if (data === undefined || reader === undefined) {
      left.unread += 1;
      continue;
    }
    const { platform } = data;
    const payload = redaction.payload(platform, data.payload);
    const outcome = outcomeOf(reader.redacted, payload);
    if (isSame(outcome, outcomeOf(reader.original, data.payload))) {
      events.push({ platform, payload, outcome });
      costs.push(costOf(reader.redacted, payload, options.now));
    } else left.changed += 1;
  }
  return { form: 1, readings, events, cost: median(costs), left };
}

function isSame(one: Outcome, other: Outcome): boolean {
  return one.kind === other.kind && one.admitted === other.admitted;
}

function readingOf(
  platform: Platform,
  { config, channels, pairing, moves }: ReplayRecordOptions,
): Reading | undefined {
  const [channel, rules] = [channels.get(platform), accessRules(config)[platform]];
  if (channel === undefined || rules === undefined) return undefined;
  const { dmPolicy, allowFrom, groupPolicy, groupAllowFrom } = rules;
  const { bot, mediaMaxBytes } = channel;
  const approvals = pairing(platform);
  const operators = new Set(approvals.operators());
  const granted = approvals.approved().map((id) => [id, operators.has(id) ? "operator" : "person"] as const);
  const groups = Object.entries(rules.groups).map(
    ([id, { enabled, requireMention }]) => [id, { enabled, requireMention }] as const,
  );
  return {
    rules: {
      dmPolicy,
      allowFrom: [...allowFrom],
      groupPolicy,
      groupAllowFrom: [...groupAllowFrom],
      groups: Object.fromEntries(groups),
      operators: [...rules.operators],
    },
    granted: Object.fromEntries(granted),
    ...(bot && { bot: { id: bot.id, ...(bot.username !== undefined && { username: bot.username }) } }),
    moved: platform === "telegram" ? moves.all() : {},
    mediaMaxBytes,
  };
}
