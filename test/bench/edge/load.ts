import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { mention, type SlackStandIn } from "../../../rehearsal/standins/slack.ts";

const CONNECTIONS = 16;
const SECONDS = 3;
/** Conversations that the events come from. */
const CHATS = 1_000;

/** A request as it is sent. */
export interface Shot {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** What a run came to. */
export interface Load {
  perSecond: number;
  /** Milliseconds. */
  p99: number;
}

/**
 * Sends requests for some seconds, as many as are answered, or `perSecond` of them. `next` makes each; what
 * takes time to make is made before.
 *
 * @throws Error where one was not answered with a 2xx.
 */
export async function fire(origin: URL | string, next: () => Shot, perSecond?: number): Promise<Load> {
  const result = await autocannon({
    url: String(origin),
    connections: CONNECTIONS,
    duration: SECONDS,
    ...(perSecond !== undefined && { overallRate: perSecond }),
    requests: [{ setupRequest: (request) => ({ ...request, ...next() }) }],
  });
  if (result.errors + result.timeouts + result.non2xx > 0) {
    throw new Error(`${result.errors} errors, ${result.timeouts} time-outs, ${result.non2xx} refusals`);
  }
  return { perSecond: result.requests.total / result.duration, p99: result.latency.p99 };
}

/** Always the same request. */
export function same(shot: Shot): () => Shot {
  return () => shot;
}

/** Signed events, each another, of a stock that is made now: signing is no part of what is measured. */
export function signedEvents(slack: SlackStandIn, count: number): () => Shot {
  const stock = Array.from({ length: count }, (_, index): Shot => {
    const event = slack.sign(mention("a message", { chat: `L${index % CHATS}` }));
    return { method: "POST", path: "/slack/events", ...event };
  });
  return () => {
    const shot = stock.pop();
    if (shot === undefined) throw new Error(`more than ${count} events were taken`);
    return shot;
  };
}

/**
 * Sends requests at even intervals, however long the answers take. Milliseconds of each, from the time at which it was due.
 *
 * @throws Error where one was not answered with a 2xx.
 */
export async function firePaced(
  origin: URL | string,
  next: () => Shot,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const started = performance.now();
  const sent = Array.from({ length: perSecond * seconds }, async (_, index) => {
    const dueAt = started + (index * 1_000) / perSecond;
    await sleep(Math.max(dueAt - performance.now(), 0));
    const { path, ...init } = next();
    const answer = await fetch(new URL(path, origin), init);
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`a request was answered ${answer.status}`);
    return performance.now() - dueAt;
  });
  return Promise.all(sent);
}
