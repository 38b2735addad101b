import { platformSchema } from "../contract/delivery.ts";
import type { Config } from "../contract/config/index.ts";
import {
  type ChannelHealth,
  type GatewayStatus,
  type UsageReport,
  type ModelPrice,
  USAGE_RANGES,
} from "../contract/control.ts";
import { VERSION } from "../contract/names.ts";
import { priceOf } from "../shared/prices.ts";
import type { ConfigReload } from "./config.ts";
import type { Inbox } from "./inbox/inbox.ts";
import { DAY_MS, dayOf } from "./models/usage.ts";
import type { Components } from "./components.ts";
import type { Schedules } from "./schedules/schedules.ts";
import type { Retention } from "./sessions/retention.ts";
import type { Stores } from "./stores.ts";

const DAYS = USAGE_RANGES.month;
const MAX_SOURCES = 10;

const USAGE_DAYS = 7;

interface StatusSources {
  /** ISO 8601 time at which the gateway became ready. */
  since: string;
  parts(): Components;
  stores: Stores;
  inbox: Inbox;
  schedules: Schedules;
  reload: ConfigReload;
  retention: Retention;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Sends no requests. */
export function gatewayStatus(sources: StatusSources): GatewayStatus {
  const { since, stores, inbox, schedules, reload, retention } = sources;
  const { channels, models, mcp } = sources.parts();
  const health = models.health();
  const failure = health[0]?.reason;
  return {
    version: VERSION,
    since,
    model: { id: models.primary, ...(failure && { reason: failure }) },
    models: health,
    channels: channels.health().map((channel) => withLastEvent(channel, inbox)),
    counts: {
      ...stores.sessions.counts(),
      active: inbox.active,
    },
    pending: pending(stores),
    limited: limited(sources),
    ...(retention.notice && { retention: retention.notice }),
    schedules: schedules.health(),
    firstWords: stores.firstWords.report,
    config: reload.state,
    usage: stores.usage.recent(USAGE_DAYS),
    servers: mcp.health(),
    findings: stores.contract.list(),
  };
}

/** Counts people and browsers that await approval. */
function pending({ pairing, devices }: Pick<Stores, "pairing" | "devices">): number {
  const people = platformSchema.options.flatMap((platform) => pairing(platform).pending());
  return people.length + devices.pending().length;
}

/** Counts chats and people that have reached today's token limit. */
function limited({ parts, stores, clock }: StatusSources): number {
  const { tokensPerDay } = parts().config.agent.limits;
  return tokensPerDay === undefined ? 0 : stores.spending.reached(tokensPerDay, clock());
}

function withLastEvent(health: ChannelHealth, inbox: Inbox): ChannelHealth {
  const at = inbox.lastEventAt(health.platform);
  return at === undefined ? health : { ...health, lastEventAt: new Date(at).toISOString() };
}

/** Reports messages and tokens for each of the last 30 days. `now` is in milliseconds since the epoch. */
export function usageReport(
  { sessions, usage, sources }: Pick<Stores, "sessions" | "usage" | "sources">,
  config: Config,
  now: number,
): UsageReport {
  const days = Array.from({ length: DAYS }, (_, index) => dayOf(now - (DAYS - 1 - index) * DAY_MS));
  const first = dayOf(now - (DAYS - 1) * DAY_MS);
  const models = usage.since(first);
  const top = (length: number) => sources.top(dayOf(now - (length - 1) * DAY_MS), MAX_SOURCES);
  return {
    days,
    messages: sessions.daysSince(first),
    models,
    prices: pricesOf(new Set(models.map(({ model }) => model)), config.models.prices),
    sources: {
      day: top(USAGE_RANGES.day),
      week: top(USAGE_RANGES.week),
      month: top(USAGE_RANGES.month),
    },
  };
}

function pricesOf(
  models: ReadonlySet<string>,
  own: Readonly<Record<string, ModelPrice>>,
): Record<string, ModelPrice> {
  const known = [...models].flatMap((model): [string, ModelPrice][] => {
    const price = priceOf(model, own);
    return price === undefined ? [] : [[model, price]];
  });
  return Object.fromEntries(known);
}
