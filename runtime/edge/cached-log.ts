import type { LogTail } from "../contract/control.ts";
import type { Reason } from "../contract/errors.ts";
import { parseJson } from "../shared/json.ts";
import { appendLines } from "../shared/log.ts";
import { readLastLines, MAX_LINES } from "./debug-routes.ts";
import { attempt } from "./operate.ts";
import type { AnswerMemory, Sandbox } from "./ports.ts";

const QUESTION = "logs";

interface CachedLog extends LogTail {
  /** ISO 8601 time at which cached lines were read; absent for current lines. */
  asOf?: string;
  /** Reason why the running container's output could not be read. */
  problem?: Reason;
}

/**
 * Returns the end of the gateway's output, at most 200 kB, and caches it for pages that are opened while the
 * container sleeps. Does not wake the container or count as activity. Never rejects.
 */
export async function readLog(
  sandbox: Pick<Sandbox, "status" | "peek">,
  memory: AnswerMemory,
  limitMs: number,
): Promise<CachedLog> {
  const last = await memory.lastAnswer(QUESTION).catch(() => undefined);
  const kept = last && (parseJson(last.text) as LogTail | undefined);
  const { value, problem } = await attempt(limitMs, readLastLines(sandbox, MAX_LINES, kept?.next));
  // Return the cached lines if the container does not answer, or is stopped and therefore returns nothing.
  if (value === undefined || (value.next === undefined && value.lines.length === 0))
    return { lines: [], ...kept, ...(kept && { asOf: last.at }), ...(problem && { problem }) };
  const { lines, next } = value;
  // Without `next`, the lines may repeat cached ones, so they replace the cache.
  const tail = next === undefined ? { lines } : { lines: appendLines(kept?.lines ?? [], lines), next };
  if (lines.length > 0) await memory.keepAnswer(QUESTION, JSON.stringify(tail)).catch(() => undefined);
  return tail;
}
