import type { Reason } from "../../contract/errors.ts";
import { parseJson } from "../../shared/json.ts";
import type { Visitor } from "../access.ts";
import { attempt } from "../operate.ts";
import type { AnswerMemory } from "../ports.ts";

/** Most that a page waits for the container, in milliseconds, unless it says otherwise. */
export const LIMIT_MS = 10_000;

/** Questions of the pages whose answers are kept. */
type Question = "gateway" | "usage" | "sessions" | "access" | "schedules" | "config" | "models" | "workspace";

/** Answer of the container, the present one or the last. */
export interface Answer<T> {
  value?: T;
  /** ISO 8601: when the container gave the value; absent if that was just now. */
  asOf?: string;
  /** Why there is no present value, where the container runs. */
  problem?: Reason;
}

/** Limits of an answer. */
interface AskOptions<T> {
  /** Default: {@link LIMIT_MS}. */
  limitMs?: number;
  /** Says whether an answer is whole enough to be kept. Default: all are. */
  isWhole?(value: T): boolean;
}

/** State of the container, and from when on its last answer is as good as the present one. */
type Asked = Pick<Visitor, "reuseAfter"> & { facts: Pick<Visitor["facts"], "status"> };

/**
 * Asks a running container and keeps its answer. Without an answer, such as while it sleeps or starts, returns the last
 * one with its time. Never rejects and wakes nothing.
 *
 * @param ask resolves with `undefined` where the container cannot tell at the moment
 */
export async function askOrRecall<T>(
  memory: AnswerMemory,
  { facts: { status }, reuseAfter }: Asked,
  question: Question,
  ask: () => Promise<T | undefined>,
  { limitMs = LIMIT_MS, isWhole = () => true }: AskOptions<T> = {},
): Promise<Answer<T>> {
  const recall = async (): Promise<Required<Pick<Answer<T>, "value" | "asOf">> | undefined> => {
    const last = await memory.lastAnswer(question).catch(() => undefined);
    const value = last && (parseJson(last.text) as T | undefined);
    return last && value !== undefined ? { value, asOf: last.at } : undefined;
  };
  const recent = reuseAfter === undefined ? undefined : await recall();
  if (recent && Date.parse(recent.asOf) >= (reuseAfter ?? 0)) return { value: recent.value };
  // Until it has its data back, a container that starts would say that there is nothing.
  const isAsked = status.state === "ready" || status.state === "crash-looping";
  const present = isAsked ? await attempt(limitMs, ask()) : {};
  if (present.value !== undefined) {
    // A page is shown whether or not its answer could be kept.
    if (isWhole(present.value))
      await memory.keepAnswer(question, JSON.stringify(present.value)).catch(() => undefined);
    return { value: present.value };
  }
  return { ...(present.problem && { problem: present.problem }), ...(recent ?? (await recall())) };
}
