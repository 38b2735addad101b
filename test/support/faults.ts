import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { mention, type SlackStandIn } from "../../rehearsal/standins/slack.ts";
import type { LedgerPage } from "../../runtime/edge/ports.ts";
import { fillVolume } from "./full-volume.ts";
import { signal } from "./kills.ts";
import { persistentFetch } from "./persistent-fetch.ts";
import type { TroubledFront } from "./troubled-front.ts";

/** Maximum time until the service notices the end of a fault. */
export const MENDED_MS = 90_000;
/** The edge informs a chat of an outage after a minute. */
const NOTICE_MS = 90_000;

export interface Tried {
  url: string;
  operator: Record<string, string>;
  slack: SlackStandIn;
  front: TroubledFront;
  /** Returns the data directory, which is on a small volume. */
  data(): Promise<string>;
  /** Process ids. */
  gateways(): number[];
  /** Makes the next backup fail. Returns a function that undoes this. */
  spoilBackups(): Promise<() => Promise<void>>;
  /** Absent if a container cannot die without the edge. */
  containers?(): number[];
  /** Returns a function that unlocks the ledger. Absent if a test cannot access the ledger. */
  lockLedger?(): Promise<() => void>;
}

export interface Seen {
  word: string;
  overview: string;
  ready: number;
  metrics: {
    ledger: Record<string, number>;
    sandbox: { restarts: number; broker: { answered: number }; volume?: object; silent?: object };
    gateway?: {
      counts: { messages: number; answered: number; conversations: number };
      usage: { requests: number; inputTokens: number; outputTokens: number }[];
      firstWords: { count: number };
      models: { state: string }[];
      channels: { state: string }[];
    };
  };
}

export interface Fault {
  fault: string;
  make(): Promise<unknown>;
  mend?(): Promise<unknown>;
  told(seen: Seen, before: Seen): boolean;
  /** Set if the report does not go away, because the fault only increases a counter. */
  stays?: true;
  /** Default: 30,000. */
  seenMs?: number;
}

const FIGURES: ((metrics: Seen["metrics"]) => number)[] = [
  ({ sandbox }) => sandbox.broker.answered,
  ({ gateway }) => gateway?.counts.conversations ?? 0,
  ({ gateway }) => gateway?.firstWords?.count ?? 0,
  ...(["requests", "inputTokens", "outputTokens"] as const).map(
    (figure) =>
      ({ gateway }: Seen["metrics"]) =>
        (gateway?.usage ?? []).reduce((sum, one) => sum + one[figure], 0),
  ),
];

function only<Cause>(cause: Cause | undefined, fault: (cause: Cause) => Fault): Fault[] {
  return cause === undefined ? [] : [fault(cause)];
}

/** Returns the faults that tests can cause, in the order in which to cause them. */
export function faultsOf({
  url,
  operator,
  slack,
  front,
  data,
  gateways,
  containers,
  spoilBackups,
  lockLedger,
}: Tried): Fault[] {
  const send = (text: string, chat = `C${text}`) =>
    persistentFetch(`${url}/slack/events`, { method: "POST", ...slack.sign(mention(text, { chat })) });
  const sendEvent = (changes: object) => {
    const body = mention("unlike", { chat: "D0STRANGER" }) as { event: object };
    const event = { ...body.event, type: "message", channel_type: "im", ...changes };
    return persistentFetch(`${url}/slack/events`, { method: "POST", ...slack.sign({ ...body, event }) });
  };
  const post = async (path: string, fields: Record<string, string> = {}): Promise<void> => {
    const { status, headers } = await persistentFetch(`${url}${path}`, {
      method: "POST",
      redirect: "manual",
      headers: {
        ...operator,
        origin: url,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams(fields).toString(),
    });
    expect(status, `${path} ${headers.get("location")}`).toBe(303);
  };
  const replayFailed = async (): Promise<void> => {
    const page = await persistentFetch(`${url}/debug/ledger?state=failed`, { headers: operator });
    for (const { key } of ((await page.json()) as LedgerPage).entries) {
      await persistentFetch(`${url}/_admin/api/ledger/replay`, {
        method: "POST",
        headers: { ...operator, "content-type": "application/json" },
        body: JSON.stringify({ key }),
      });
    }
  };
  const config = async (): Promise<string> => join(await data(), "steward.json");
  let text = "";
  let filled = "";
  let unlock = (): void => undefined;
  let stopped: number[] = [];
  let unspoil = async (): Promise<void> => undefined;
  return [
    {
      fault: "a message and its answer",
      make: () => send("counted"),
      told: ({ metrics }, before) =>
        (metrics.gateway?.counts.messages ?? 0) >= (before.metrics.gateway?.counts.messages ?? 0) + 2 &&
        (metrics.gateway?.counts.answered ?? 0) > (before.metrics.gateway?.counts.answered ?? 0) &&
        (metrics.ledger["answered"] ?? 0) > (before.metrics.ledger["answered"] ?? 0) &&
        FIGURES.every((figure) => figure(metrics) > figure(before.metrics)),
      stays: true,
    },
    {
      fault: "another bot's message, which is not for this one",
      make: () => sendEvent({ bot_id: "B0OTHER", subtype: "bot_message" }),
      told: ({ metrics }, before) =>
        (metrics.ledger["ignored"] ?? 0) > (before.metrics.ledger["ignored"] ?? 0) &&
        metrics.gateway?.counts.answered === before.metrics.gateway?.counts.answered,
      stays: true,
    },
    {
      fault: "a stranger who asks to be let in",
      make: () => sendEvent({ user: "U0STRANGER" }),
      told: ({ overview }) => overview.includes('title="Waiting for approval">1<'),
      stays: true,
    },
    {
      fault: "a key that the model refuses",
      make: async () => {
        front.always.model = "a wrong key";
        await send("refused");
      },
      mend: async () => {
        front.always.model = undefined;
        await replayFailed();
      },
      told: ({ word, overview, metrics }) =>
        word === "Down" &&
        overview.includes("No model answers") &&
        metrics.gateway?.models[0]?.state === "failing" &&
        metrics.ledger["failed"] === 1,
    },
    {
      fault: "a model that is overloaded",
      make: async () => {
        front.always.model = "overloaded";
        await send("overloaded");
      },
      mend: async () => void (front.always.model = undefined),
      told: ({ word, metrics }) =>
        word === "Down" && metrics.gateway?.models[0]?.state === "cooling" && metrics.ledger["waiting"] === 1,
    },
    {
      fault: "a model that answers with nothing",
      make: async () => {
        front.always.model = "an empty text";
        await send("empty");
      },
      mend: async () => void (front.always.model = undefined),
      told: ({ word, metrics }) => word === "Down" && metrics.ledger["waiting"] === 1,
    },
    {
      fault: "a token that Slack refuses",
      make: async () => {
        front.always.slack = "a revoked token";
        await send("revoked");
      },
      mend: async () => void (front.always.slack = undefined),
      told: ({ word, overview, metrics }) =>
        word === "Degraded" &&
        overview.includes("The channel slack fails") &&
        metrics.gateway?.channels[0]?.state === "failing",
    },
    {
      fault: "a config file that is broken",
      make: async () => {
        text = await readFile(await config(), "utf8");
        await writeFile(await config(), `${text.slice(0, -2)},}`);
      },
      mend: async () => writeFile(await config(), text),
      told: ({ word, overview }) => word === "Degraded" && overview.includes("The changed config is invalid"),
    },
    {
      fault: "a backup that fails",
      make: async () => {
        unspoil = await spoilBackups();
        await post("/_admin/backups/create", { force: "no" });
      },
      mend: async () => {
        await unspoil();
        await post("/_admin/backups/create", { force: "no" });
      },
      told: ({ word, overview }) => word === "Degraded" && overview.includes("The last backup failed"),
    },
    {
      fault: "a full volume",
      make: async () => {
        filled = join(await data(), "filler");
        fillVolume(filled);
      },
      mend: () => rm(filled),
      told: ({ word, ready, metrics }) =>
        word === "Down" && ready === 503 && metrics.sandbox.volume !== undefined,
    },
    ...only(lockLedger, (lock) => ({
      fault: "a ledger that another process has locked",
      make: async () => void (unlock = await lock()),
      mend: async () => unlock(),
      told: ({ word, overview, ready }) =>
        word === "Down" && ready === 503 && overview.includes("ledger_unavailable"),
    })),
    {
      fault: "a gateway that hangs",
      make: async () => {
        stopped = gateways();
        signal(stopped, "SIGSTOP");
      },
      mend: async () => {
        signal(stopped, "SIGCONT");
      },
      told: ({ word, overview, ready, metrics }) =>
        word === "Down" &&
        ready === 503 &&
        overview.includes("The gateway does not answer") &&
        metrics.sandbox.silent !== undefined,
    },
    {
      fault: "a gateway that was killed",
      make: async () => {
        signal(gateways(), "SIGKILL");
      },
      told: ({ metrics }, before) => metrics.sandbox.restarts > before.metrics.sandbox.restarts,
      stays: true,
    },
    ...only(containers, (pids) => ({
      fault: "a container that was killed",
      make: async () => {
        signal(pids(), "SIGKILL");
        await send("woken");
      },
      told: ({ metrics }, before) => metrics.sandbox.restarts > before.metrics.sandbox.restarts,
      stays: true,
    })),
    {
      fault: "a gateway that cannot start, of which the edge tells a chat that it knows",
      make: async () => {
        text = await readFile(await config(), "utf8");
        await writeFile(await config(), `${text.slice(0, -2)},}`);
        signal(gateways(), "SIGKILL");
        await send("kept", "Ccounted");
      },
      seenMs: NOTICE_MS,
      mend: async () => {
        await writeFile(await config(), text);
        await post("/_admin/restart", { page: "/_admin/" });
        await slack.waitFor(({ text: said }) => /^You said:.*kept$/.test(said), MENDED_MS);
      },
      told: ({ word, ready, overview }) =>
        word === "Down" &&
        ready === 503 &&
        overview.includes("The gateway cannot start") &&
        slack
          .messages()
          .some((message) => message.channel === "Ccounted" && message.text.includes("is saved")),
    },
  ];
}
