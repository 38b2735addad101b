import { attempt } from "../operate.ts";
import { LIMIT_MS } from "./answers.ts";
import { type Done, goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

interface Change {
  action: string;
  detail?: string;
  /** Diff from `diffText`; recorded, but not logged. */
  diff?: string | undefined;
  /** Default: `info`. */
  level?: "info" | "warn";
}

/** Logs a change and records it for the Activity page. */
export async function recordChange(
  context: PageContext,
  { log, record }: Pick<AdminOptions, "log" | "record">,
  { action, detail, diff, level = "info" }: Change,
): Promise<void> {
  const by = context.get("identity").name;
  log[level](`operator: ${action}`, { by, ...(detail !== undefined && { detail }) });
  await record(by, action, detail, diff);
}

interface After {
  page: { path: string };
  done: Done;
  onMade?(result: unknown): Promise<void>;
}

/** Waits for a change, records it on success, and redirects to a page with the outcome. */
export async function finishChange(
  context: PageContext,
  options: Pick<AdminOptions, "log" | "record">,
  made: Promise<unknown>,
  { page, done, onMade, ...change }: Change & After,
): Promise<Response> {
  const { value, problem } = await attempt(LIMIT_MS, made);
  if (problem === undefined) await recordChange(context, options, change);
  if (problem === undefined) await onMade?.(value);
  return goTo(context, page, done, problem);
}
