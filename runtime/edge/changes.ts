import type { Handler } from "hono";
import { streamSSE } from "hono/streaming";
import type { GatewayStatus, SandboxStatus } from "../contract/control.ts";
import { shortHash } from "../shared/short-hash.ts";
import { gatewayDetails } from "./debug-routes.ts";
import { attempt } from "./operate.ts";
import type { Activity, ActivityEntry, Clock, Ledger, LedgerCounts, Sandbox } from "./ports.ts";

const EVERY_MS = 1_000;
/** Timeout of the gateway's status in milliseconds. Pages wait as long, so that they have the same revision. */
export const STATUS_MS = 3_000;
/** Milliseconds between the comments that keep proxies from closing the stream. */
const SIGN_EVERY_MS = 20_000;
/** Maximum duration of a stream, in milliseconds. The browser then reconnects, and its identity is checked again. */
const LONGEST_MS = 5 * 60_000;

interface ChangesOptions {
  ledger: Pick<Ledger, "counts">;
  sandbox: Pick<Sandbox, "status" | "peek">;
  activity: Pick<Activity, "activity">;
  clock: Clock;
}

/**
 * `GET /_admin/api/changes?since=`: Server-Sent Events. Sends an empty `change` event when a page's content may have
 * changed since the revision `since`. Clients without event streams get `{revision}`, which differs after a change.
 * Does not wake the container or count as activity.
 */
export function streamChanges(options: ChangesOptions): Handler {
  const { clock } = options;
  return async function handleChanges(context) {
    const isStream = context.req.header("accept")?.includes("text/event-stream") ?? false;
    if (!isStream) return context.json({ revision: await revision(options) });
    return streamSSE(context, async (stream) => {
      const until = clock() + LONGEST_MS;
      let known = context.req.query("since") ?? (await revision(options));
      let signedAt = 0;
      while (!stream.aborted && clock() < until) {
        if (clock() - signedAt >= SIGN_EVERY_MS) {
          await stream.write(": open\n\n");
          signedAt = clock();
        }
        await stream.sleep(EVERY_MS);
        const present = await revision(options);
        if (present !== known) await stream.writeSSE({ event: "change", data: "" });
        known = present;
      }
    });
  };
}

async function revision({ ledger, sandbox, activity }: ChangesOptions): Promise<string> {
  const [counts, status, [latest], { value: details }] = await Promise.all([
    ledger.counts(),
    sandbox.status(),
    activity.activity(1),
    attempt(STATUS_MS, gatewayDetails(sandbox)),
  ]);
  return revisionOf({ counts, status, latest, details });
}

interface Revised {
  counts: LedgerCounts | undefined;
  status: SandboxStatus;
  latest: ActivityEntry | undefined;
  /** The gateway's current status, if known. */
  details: GatewayStatus | undefined;
}

/** Returns a text that differs after a change of what pages show. */
export function revisionOf({ counts, status: { state, since }, latest, details }: Revised): string {
  const known = state === "ready" && details && stableStatus(details);
  return shortHash(JSON.stringify([counts, state, since, latest?.at, known])).toString(36);
}

/** Returns a status without the times of polls and events, which change constantly. */
function stableStatus({ pending, counts, schedules, channels, models, config }: GatewayStatus): unknown {
  const states = [
    ...channels.map((one) => [one.platform, one.state]),
    ...models.map((one) => [one.id, one.state]),
  ];
  return [pending, counts.conversations, counts.messages, schedules, states, config];
}
