import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ROUTES } from "../../runtime/contract/routes.ts";

/** Answers of a version of a Worker, counted. Plain data: a record keeps it. */
export interface VersionHealth {
  versionId: string;
  requests: number;
  errors: number;
  /** Milliseconds to the whole answer, at the median of those that came right; `undefined` where none did. */
  medianMs: number | undefined;
}

/** Subject of a measurement. */
export interface Measurement {
  url: string;
  scriptName: string;
  publicWebhooks: boolean;
  /** Time over which the requests are spread. */
  watchMs: number;
}

type Ask = (headers: Record<string, string>) => Promise<boolean>;

const ROUNDS = 25;
const ANSWER_MS = 10_000;
const APPLIED_MS = 30_000;
const RETRY_MS = 500;
/** So much slower than the other may a version be, and by this time on top. */
const SLOWER = 2;
const SLACK_MS = 100;

/**
 * Asks two versions of a Worker the same, in turn, whatever their shares are: a request may name the version that
 * it is for (https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/), and a right
 * answer names the one that gave it. Nothing is woken and nothing recorded.
 *
 * @throws where a version does not come to answer at all.
 */
export async function compareVersions<Ids extends readonly string[]>(
  versionIds: Ids,
  measurement: Measurement,
): Promise<{ [Index in keyof Ids]: VersionHealth }> {
  const measured = versionIds.map((versionId) => ({ versionId, errors: 0, times: [] as number[] }));
  for (const { versionId } of measured) await untilAnswers(versionId, measurement);
  const pauseMs = measurement.watchMs / ROUNDS;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const one of measured) {
      for (const ask of questions(one.versionId, measurement)) {
        const took = await timed(ask, override(measurement, one.versionId));
        if (took === undefined) one.errors += 1;
        else one.times.push(took);
      }
    }
    await sleep(pauseMs);
  }
  const health = measured.map(({ versionId, errors, times }): VersionHealth => {
    return { versionId, errors, requests: errors + times.length, medianMs: middle(times) };
  });
  return health as { [Index in keyof Ids]: VersionHealth };
}

/** Returns what keeps a version from getting a larger share, beside the one that it replaces; `undefined` where nothing does. */
export function whyNot(next: VersionHealth, former: VersionHealth): string | undefined {
  if (next.errors > former.errors) {
    return `of ${next.requests} requests to the new version ${next.errors} were answered wrongly, to the former one ${former.errors}`;
  }
  const { medianMs = 0 } = next;
  const most = (former.medianMs ?? 0) * SLOWER + SLACK_MS;
  if (medianMs <= most) return undefined;
  return `the new version answers in ${medianMs} ms, the former one in ${former.medianMs} ms: at most ${most} are taken`;
}

/** A new deployment takes seconds to be known everywhere. */
async function untilAnswers(versionId: string, measurement: Measurement): Promise<void> {
  const end = Date.now() + APPLIED_MS;
  const headers = override(measurement, versionId);
  while (!(await isReady(measurement.url, versionId, headers).catch(() => false))) {
    if (Date.now() > end) {
      throw new Error(`the version ${versionId} does not answer at ${measurement.url}${ROUTES.ready.path}`);
    }
    await sleep(RETRY_MS);
  }
}

function questions(versionId: string, { url, publicWebhooks }: Measurement): Ask[] {
  const ready: Ask = (headers) => isReady(url, versionId, headers);
  const challenged: Ask = (headers) => echoes(url, headers);
  return publicWebhooks ? [ready, challenged] : [ready];
}

/** Asleep is right: 503 with its state. */
async function isReady(url: string, versionId: string, headers: Record<string, string>): Promise<boolean> {
  const response = await fetch(`${url}${ROUTES.ready.path}`, {
    headers,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const body = (await response.json()) as { state?: unknown; workerVersion?: unknown };
  return typeof body.state === "string" && body.workerVersion === versionId;
}

/** https://docs.slack.dev/reference/events/url_verification : what Slack asks a new address. */
async function echoes(url: string, headers: Record<string, string>): Promise<boolean> {
  const challenge = randomUUID();
  const response = await fetch(`${url}${ROUTES.slackEvents.path}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ type: "url_verification", challenge }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const body = (await response.json()) as { challenge?: unknown };
  return body.challenge === challenge;
}

/** Milliseconds, or `undefined` where the answer was wrong or none came. */
async function timed(ask: Ask, headers: Record<string, string>): Promise<number | undefined> {
  const started = performance.now();
  const right = await ask(headers).catch(() => false);
  return right ? performance.now() - started : undefined;
}

function override({ scriptName }: Measurement, versionId: string): Record<string, string> {
  return { "cloudflare-workers-version-overrides": `${scriptName}="${versionId}"` };
}

function middle(times: readonly number[]): number | undefined {
  const found = times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
  return found === undefined ? undefined : Math.round(found);
}
