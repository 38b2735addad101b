import path from "node:path";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { causeOf } from "../../../infra/shell/failure.ts";
import { runProcess, tail } from "../../../infra/shell/process.ts";
import type { Platform } from "../../../runtime/contract/delivery.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import {
  type Outcome,
  replayedSchema,
  type Replayed,
  type ReplayRecord,
} from "../../../runtime/contract/replay.ts";

const PROGRAM = "gateway/replay/main.js";
const PROGRAM_MS = 60_000;
/**
 * A new version is reported as slower only if reading an event takes at least this many times as long as before.
 * Smaller differences may be noise.
 */
const SLOW_FACTOR = 3;

const FATES = ["understood", "refused", "ignored", "unreadable"] as const;
type Fate = (typeof FATES)[number];
const FATE_OF: Readonly<Record<string, Fate>> = {
  refused: "refused",
  unpaired: "refused",
  ignored: "ignored",
  error: "unreadable",
};

/** Events that the two versions interpret differently. */
interface Change {
  platform: Platform;
  from: string;
  to: string;
  events: number;
}

/**
 * Comparison of two versions' replays. Contains no message contents, because it is stored in the rollout's record.
 */
export interface Comparison {
  events: number;
  running: Record<Fate, number>;
  next: Record<Fate, number>;
  changes: Change[];
  /**
   * The new version's time to read the events, divided by the running version's; `undefined` if the latter is zero.
   */
  factor: number | undefined;
  left: ReplayRecord["left"];
}

/** Result of a replay: a comparison, or the reason why there is none. Stored in the rollout's record. */
export type ReplayResult =
  | { compared: Comparison }
  /** Counts neither as success nor as failure. */
  | { skipped: string }
  | { failed: string };

export function compareOutcomes(
  { events, cost, left }: ReplayRecord,
  { outcomes, cost: nextCost }: Replayed,
): Comparison {
  const running = countsOf(events.map(({ outcome }) => outcome));
  const changes = new Map<string, Change>();
  for (const [at, { platform, outcome }] of events.entries()) {
    const [from, to] = [labelOf(outcome), labelOf(outcomes[at] ?? { kind: "error" })];
    if (from === to) continue;
    const key = [platform, from, to].join("\n");
    const change = changes.get(key) ?? { platform, from, to, events: 0 };
    change.events += 1;
    changes.set(key, change);
  }
  const factor = cost > 0 ? Math.round((nextCost / cost) * 10) / 10 : undefined;
  return {
    events: events.length,
    running,
    next: countsOf(outcomes),
    changes: [...changes.values()],
    factor,
    left,
  };
}

function countsOf(outcomes: readonly Outcome[]): Record<Fate, number> {
  const counts = { understood: 0, refused: 0, ignored: 0, unreadable: 0 };
  for (const { kind } of outcomes) counts[FATE_OF[kind] ?? "understood"] += 1;
  return counts;
}

function labelOf({ kind, admitted }: Outcome): string {
  return admitted === undefined ? kind : `${kind} (${admitted})`;
}

export function replayLines(result: ReplayResult): string[] {
  if ("skipped" in result) return [`No events were replayed: ${result.skipped}`];
  if ("failed" in result) return [`The new version could not replay the events: ${result.failed}`];
  const { events, running, next, changes, factor, left } = result.compared;
  const slower = factor !== undefined && factor >= SLOW_FACTOR;
  const out = [
    [left.tooLarge, "too large"],
    [left.unread, "unreadable, or of a channel that is off"],
    [left.changed, "that redaction would change"],
  ].filter(([count]) => count !== 0);
  return [
    `Replayed the most recent events, with their content redacted: ${events}. Nothing was sent, and no model was called.`,
    "",
    "| | running version | new version |",
    "|---|---|---|",
    ...FATES.map((fate) => `| ${fate} | ${running[fate]} | ${next[fate]} |`),
    "",
    `- interpreted differently: ${sum(changes)}`,
    ...changes.map(
      ({ platform, from, to, events: count }) => `- ${platform}: ${from} becomes ${to}: ${count}`,
    ),
    ...(factor === undefined
      ? []
      : [
          `- reading an event takes ${factor} times as long as in the running version${slower ? ", which is slower" : ""}`,
        ]),
    ...(out.length === 0 ? [] : [`- left out: ${out.map(([count, why]) => `${count} ${why}`).join("; ")}`]),
  ];
}

/** Returns one message if the operator must accept the replay's result before the update; otherwise none. */
export function replayGates(result: ReplayResult | undefined, accepted: boolean): string[] {
  if (result === undefined || accepted || "skipped" in result) return [];
  const accept = "To accept it: --accept-replay";
  if ("failed" in result) return [`The new version could not replay past events. ${accept}`];
  const { changes, events } = result.compared;
  if (changes.length === 0) return [];
  return [`The new version interprets ${sum(changes)} of ${events} replayed events differently. ${accept}`];
}

function sum(changes: readonly Change[]): number {
  return changes.reduce((total, { events }) => total + events, 0);
}

/** Fetches the running version's record of past events and replays it with the code to be deployed. Never rejects. */
export async function replayPast(take: () => Promise<ReplayRecord>): Promise<ReplayResult> {
  let record: ReplayRecord;
  try {
    record = await take();
  } catch (error) {
    return { skipped: skippedBecause(error) };
  }
  if (record.events.length === 0) return { compared: compareOutcomes(record, { outcomes: [], cost: 0 }) };
  try {
    return { compared: compareOutcomes(record, await replayLocally(record)) };
  } catch (error) {
    return { failed: causeOf(error) };
  }
}

function skippedBecause(error: unknown): string {
  if (!(error instanceof StewardError)) return causeOf(error);
  const { code } = error;
  if (code === "not_found") return "the running version is older and cannot provide recorded events.";
  return `${causeOf(error)} (${code}). ${code === "replay_not_allowed" ? "The next rollout can replay them." : ""}`.trim();
}

/**
 * Replays the record in a separate process that runs the new bundle without environment variables. If Node supports
 * permissions, the process can read only the bundle and cannot start processes or threads.
 */
async function replayLocally(record: ReplayRecord): Promise<Replayed> {
  const { container } = await buildBundle();
  const confined = process.allowedNodeEnvironmentFlags.has("--permission")
    ? ["--permission", `--allow-fs-read=${path.join(container.dir, "*")}`]
    : [];
  const finished = await runProcess(process.execPath, [...confined, path.join(container.dir, PROGRAM)], {
    env: {},
    input: JSON.stringify(record),
    timeoutMs: PROGRAM_MS,
  });
  if (finished.timedOut) throw new Error(`it took longer than ${PROGRAM_MS / 1_000} s`);
  if (finished.code !== 0) throw new Error(tail(finished, 5));
  return replayedSchema.parse(JSON.parse(finished.stdout));
}
