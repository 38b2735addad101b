import type { Platform } from "../../contract/delivery.ts";
import type { Admission, Inbound } from "../../contract/message.ts";
import type { Outcome, Reading, Replayed, ReplayRecord } from "../../contract/replay.ts";
import { channelAccess } from "../../shared/channel-access.ts";
import { readDiscordEvent } from "../channels/discord/inbound.ts";
import { readSlackEvent } from "../channels/slack/inbound.ts";
import { readTelegramUpdate } from "../channels/telegram/inbound.ts";
import { readCommand } from "../commands.ts";

/** Repetitions per measurement. The fastest one counts. */
const RUNS = 3;
/** Lower limit for a measured parsing time, in milliseconds, to avoid a division by zero. */
const SHORTEST_MS = 0.0005;

/** Parses and admits one event as its channel would. Sends and stores nothing; may throw. */
export type Read = (payload: Record<string, unknown>) => Inbound;

/** Returns the function that parses and admits a channel's events, without creating the channel. */
export function readerOf(platform: Platform, { rules, granted, bot, moved, mediaMaxBytes }: Reading): Read {
  const access = channelAccess(rules, {
    granted: (user) => (Object.hasOwn(granted, user) ? granted[user] : undefined),
  });
  switch (platform) {
    case "slack":
      return (payload) => readSlackEvent(payload, access);
    case "discord":
      return (payload) => readDiscordEvent(payload, access);
    case "telegram": {
      const moves = {
        knownAs: (chat: string) => (Object.hasOwn(moved, chat) ? (moved[chat] ?? chat) : chat),
      };
      const identity = { id: bot?.id ?? "", username: bot?.username };
      return (payload) => readTelegramUpdate(payload, { access, bot: identity, moves, mediaMaxBytes });
    }
  }
}

export function outcomeOf(read: Read, payload: Record<string, unknown>): Outcome {
  try {
    const inbound = read(payload);
    const { kind } = inbound;
    const admission = "admission" in inbound ? inbound.admission : undefined;
    return {
      kind: kind === "message" ? messageKind(inbound) : kind,
      ...(admission && { admitted: admissionText(admission) }),
    };
  } catch {
    return { kind: "error" };
  }
}

function messageKind({ text, edited }: Extract<Inbound, { kind: "message" }>): string {
  if (edited) return "edit";
  return readCommand(text) === undefined ? "message" : "command";
}

function admissionText(admission: Admission): string {
  return "grants" in admission ? `${admission.by} ${admission.grants}` : admission.by;
}

/**
 * Processes each event of a replay record, but asks no model and sends nothing.
 *
 * @param now clock for measurements, in milliseconds
 */
export function replay(
  { readings, events }: Pick<ReplayRecord, "readings" | "events">,
  now: () => number,
): Replayed {
  const readers = new Map<Platform, Read>();
  for (const [platform, reading] of Object.entries(readings))
    if (reading !== undefined) readers.set(platform as Platform, readerOf(platform as Platform, reading));
  const pairs = events.map(({ platform, payload }) => ({ read: readers.get(platform) ?? absent, payload }));
  const outcomes = pairs.map(({ read, payload }) => outcomeOf(read, payload));
  return { outcomes, cost: median(pairs.map(({ read, payload }) => costOf(read, payload, now))) };
}

function absent(): never {
  throw new Error("the record has no channel of this platform");
}

/** Returns an event's cost: the time to read it, divided by the time to parse its JSON. */
export function costOf(read: Read, payload: Record<string, unknown>, now: () => number): number {
  const text = JSON.stringify(payload);
  const parsing = fastest(() => JSON.parse(text), now);
  return fastest(() => outcomeOf(read, payload), now) / Math.max(parsing, SHORTEST_MS);
}

function fastest(work: () => unknown, now: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run += 1) {
    const begun = now();
    work();
    best = Math.min(best, now() - begun);
  }
  return best;
}

/** Returns 0 if there are no values. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
