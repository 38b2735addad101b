import * as z from "zod/mini";
import { parseJson } from "../../shared/json.ts";
import { maybe } from "../../shared/maybe.ts";
import { once } from "../../shared/once.ts";
import { retryAfterMs } from "../../shared/retry-after.ts";
import { GATEWAY_ROUTES } from "../../contract/control.ts";
import {
  ADMITTED,
  type ChatDeliveries,
  type DeliveryEnd,
  MAX_NAMES,
  PLATFORM_TITLES,
} from "../../contract/delivery.ts";
import type { Problem } from "../../contract/problem.ts";
import type { ActivityEntry, Sandbox } from "../ports.ts";
import type { AttemptResult, Deliver } from "./dispatcher.ts";

export interface DeliverOptions {
  sandbox: Pick<Sandbox, "request">;
  /** Records a change that the event caused. */
  record(entry: Omit<ActivityEntry, "at">): void;
  clock(): number;
}

export async function deliverTo(
  { sandbox, record, clock }: DeliverOptions,
  request: ChatDeliveries,
  { placed, ended, named }: Parameters<Deliver>[1],
): Promise<AttemptResult> {
  const response = await sandbox.request("gateway", {
    method: "POST",
    path: GATEWAY_ROUTES.chat,
    body: JSON.stringify(request),
  });
  if (!response.ok || response.body === null) {
    const result = resultOf(await answerOf(response), clock());
    // A refused batch does not name the offending event, so retry its events instead of failing all of them.
    return result.kind === "refused" && request.deliveries.length > 1 ? { ...result, kind: "retry" } : result;
  }
  placed();
  for await (const line of linesOf(response.body)) {
    const names = namesIn(line);
    if (names !== undefined) {
      named?.(names.filter(({ key }) => request.names?.some((one) => one.key === key)));
      continue;
    }
    const end = endIn(line);
    const delivery = end && request.deliveries[end.index];
    if (end === undefined || delivery === undefined) continue;
    const { change } = outcomeIn(end.body) ?? {};
    if (change !== undefined) record({ by: PLATFORM_TITLES[delivery.platform], ...change });
    ended(delivery.id, resultOf(end, clock()));
  }
  return { kind: "retry", note: "The gateway reported no result.", absent: true };
}

async function answerOf(response: Response): Promise<Omit<DeliveryEnd, "index">> {
  const retryAfter = response.headers.get("retry-after");
  const body: unknown = await response.json().catch(() => undefined);
  return { status: response.status, body, ...(retryAfter !== null && { retryAfter }) };
}

function resultOf(end: Omit<DeliveryEnd, "index">, now: number): AttemptResult {
  const { status, retryAfter, body, firstWordMs, admitted } = end;
  const told = status === 200 ? outcomeIn(body) : undefined;
  if (told !== undefined) {
    const { outcome, note = outcome, group } = told;
    const state = outcome === "repeated" ? "answered" : outcome;
    return { kind: "settled", state, note, group, firstWordMs, admitted };
  }
  const { code = "", detail = "" } = Object(body) as Partial<Problem>;
  const note = `${status} ${code} ${detail}`.trim();
  if (status === 400 || status === 413) return { kind: "refused", note };
  const afterMs = retryAfterMs(retryAfter ?? null, now);
  // Count a gateway as absent if it is too old for the route (404) or is stopping (503).
  const absent = status === 404 || (status === 503 && code === "gateway_unavailable");
  return { kind: "retry", note, ...(afterMs !== undefined && { afterMs }), ...(absent && { absent }) };
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

const deliveryEnd = once(() =>
  z.object({
    index: z.int(),
    status: z.number(),
    retryAfter: z.optional(z.nullable(z.string())),
    body: z.optional(z.unknown()),
    firstWordMs: z.optional(z.number().check(z.nonnegative())),
    admitted: maybe(z.enum(ADMITTED)),
  }),
);
const learnedNames = once(() =>
  z.object({
    names: z.array(z.object({ key: z.string(), name: z.optional(z.string()) })).check(z.maxLength(MAX_NAMES)),
  }),
);
const outcome = once(() =>
  z.object({
    outcome: z.enum(["answered", "ignored", "failed", "repeated"]),
    note: z.optional(z.string()),
    group: z.optional(z.string()),
    change: z.optional(z.object({ action: z.literal("move"), detail: z.string() })),
  }),
);

/** Parses a response line with one event's result. Returns `undefined` if the line is malformed. */
function endIn(line: string): DeliveryEnd | undefined {
  const { data } = deliveryEnd().safeParse(parseJson(line));
  if (data === undefined) return undefined;
  const { retryAfter, ...rest } = data;
  return { ...rest, body: data.body, ...(typeof retryAfter === "string" && { retryAfter }) };
}

/**
 * Parses the response line that lists the names of people, groups, channels and browsers. Returns `undefined` for any
 * other line.
 */
function namesIn(line: string) {
  return learnedNames().safeParse(parseJson(line)).data?.names;
}

export function outcomeIn(body: unknown): z.infer<ReturnType<typeof outcome>> | undefined {
  return outcome().safeParse(body).data;
}
