import type { Reason } from "../../contract/errors.ts";
import { parseJson } from "../../shared/json.ts";
import type { Visitor } from "../access.ts";
import { attempt } from "../operate.ts";
import type { AnswerMemory } from "../ports.ts";

/** Default timeout in milliseconds for the container's answer. */
export const LIMIT_MS = 10_000;

/** Keys of the stored answers. */
type Question = "gateway" | "usage" | "sessions" | "access" | "schedules" | "config" | "models" | "workspace";

export interface Answer<T> {
  value?: T;
  /** ISO 8601 time of a stored value; absent for a current one. */
  asOf?: string;
  /** Reason why a running container gave no current value. */
  problem?: Reason;
}

interface AskOptions<T> {
  /** Default: {@link LIMIT_MS}. */
  limitMs?: number;
  /**
   * Returns false for an incomplete answer, which must not be stored. By default, every answer counts as complete.
   */
  isWhole?(value: T): boolean;
}

/**
 * The container's status and the time `reuseAfter`. Answers stored since `reuseAfter` are reused without asking the
 * container.
 */
type AnswerContext = Pick<Visitor, "reuseAfter"> & { facts: Pick<Visitor["facts"], "status"> };

/**
 * Asks a running container and stores its answer. Without an answer, returns the stored one with its time. Never
 * rejects, and never wakes the container.
 *
 * @param ask Resolves to `undefined` if the container has no answer.
 */
export async function askOrRecall<T>(
  memory: AnswerMemory,
  { facts: { status }, reuseAfter }: AnswerContext,
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
  // A container that is still starting would answer with empty lists until its data is restored.
  const isAsked = status.state === "ready" || status.state === "crash-looping";
  const present = isAsked ? await attempt(limitMs, ask()) : {};
  if (present.value !== undefined) {
    // Ignore errors of `keepAnswer`: the page can show an answer that is not stored.
    if (isWhole(present.value))
      await memory.keepAnswer(question, JSON.stringify(present.value)).catch(() => undefined);
    return { value: present.value };
  }
  return { ...(present.problem && { problem: present.problem }), ...(recent ?? (await recall())) };
}
