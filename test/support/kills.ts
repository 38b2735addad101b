import { setTimeout as sleep } from "node:timers/promises";
import { mention, type SlackStandIn } from "../../rehearsal/standins/slack.ts";
import { runs, startedAs } from "./measure.ts";
import { persistentFetch } from "./persistent-fetch.ts";
import { generator } from "./random.ts";
import type { LedgerEntry, LedgerPage } from "../../runtime/edge/ports.ts";

/** Precision of the Slack stand-in's `ts` in milliseconds: whole seconds, with a counter as the fraction. */
export const TS_MS = 1_000;
/** Maximum wait after the last kill. */
const SETTLE_MS = 120_000;
/** Time for the broker to send a killed gateway's last messages. */
const BROKER_MS = 1_000;

export interface Victim {
  url(): string;
  slack: SlackStandIn;
  operator: Record<string, string>;
  /** Ids of the tenants, if each has a separate ledger. */
  tenants?: readonly string[];
  kill(random: () => number): Promise<void>;
  /** Restarts processes that nothing else restarts. */
  revive(): Promise<void>;
}

export interface KillPlan {
  kills: number;
  longestLifeMs: number;
  mostEvents: number;
  chats: number;
  seed: number;
}

export interface Aftermath {
  events: number;
  /** Texts of events without a reply that the ledger does not list as failed. */
  lost: string[];
  open: LedgerEntry[];
  /** Messages that were repeated between the same two kills. */
  twiceInALife: string[];
  repeated: number;
  /** Maximum number of messages that one chat got both before and after a kill. */
  mostRepeatedOfAChat: number;
}

interface Sent {
  id: string;
  event: object;
  text: string;
  accepted: boolean;
}

/** Sends signed events while killing processes. Returns lost and repeated messages. */
export async function underKills(victim: Victim, plan: KillPlan): Promise<Aftermath> {
  const random = generator(plan.seed);
  const events: Sent[] = [];
  const ends: number[] = [];
  for (let kill = 0; kill < plan.kills; kill += 1) {
    const count = 1 + Math.floor(random() * plan.mostEvents);
    const chat = () => `C${Math.floor(random() * plan.chats)}`;
    const fresh = Array.from({ length: count }, (_, index) => sent(`<${kill}.${index}>`, chat()));
    events.push(...fresh);
    const posts = Promise.all(fresh.map((one) => post(victim, one)));
    await sleep(random() * plan.longestLifeMs);
    await victim.kill(random);
    // The broker may still deliver the killed gateway's messages.
    await victim.slack.quiet();
    ends.push(victim.slack.messages().length);
    await victim.revive();
    await posts;
  }

  const settled = async (): Promise<boolean> => {
    for (const one of events) await post(victim, one);
    if (!events.every(({ accepted }) => accepted)) return false;
    // Replies first: requests to the ledgers are rate-limited.
    if (victim.tenants && !events.every(({ text }) => isQuoted(texts(victim), text))) return false;
    return (await openEntries(victim)).length === 0;
  };
  const deadline = performance.now() + SETTLE_MS;
  while (!(await settled()) && performance.now() < deadline) await sleep(1_000);

  const entries = await allEntries(victim);
  const dead = new Set(entries.filter(({ state }) => state === "failed").map(({ key }) => key));
  const said = texts(victim);
  const lives = [...ends, said.length].map((end, life) => ({ before: ends[life - 1] ?? 0, end }));
  const times = victim.slack.messages().map(({ ts }) => Number(ts) * 1_000);
  // The ledger may also end an outage by settling an answer from before the kill.
  const isOneOutage = (life: number) => (first: number, second: number) => {
    const [from = 0, to = 0] = [times[life + first], times[life + second]];
    return !entries.some(({ state, settledAt = "" }) => {
      const at = Date.parse(settledAt);
      return state === "answered" && at >= from && at < to + TS_MS;
    });
  };
  const lost = events.filter(({ id, text }) => !dead.has(`slack:${id}`) && !isQuoted(said, text));
  return {
    events: events.length,
    lost: lost.map(({ text }) => text),
    open: entries.filter(isOpen),
    twiceInALife: lives.flatMap(({ before, end }) => twice(said.slice(before, end), isOneOutage(before))),
    repeated: said.length - new Set(said).size,
    mostRepeatedOfAChat: Math.max(...lives.map((life) => mostOfAChat(said, life))),
  };
}

function sent(text: string, chat: string): Sent {
  const id = crypto.randomUUID();
  return { id: `Ev${id}`, event: mention(text, { chat, id }), text, accepted: false };
}

async function post({ url, slack }: Victim, one: Sent): Promise<void> {
  if (one.accepted) return;
  const response = await fetch(`${url()}/slack/events`, { method: "POST", ...slack.sign(one.event) }).catch(
    () => undefined,
  );
  one.accepted = response?.status === 200;
  await response?.body?.cancel().catch(() => undefined);
}

function texts({ slack }: Pick<Victim, "slack">): string[] {
  return slack.messages().map(({ channel, text }) => `${channel} ${text}`);
}

type Ledgers = Pick<Victim, "url" | "operator" | "tenants">;

async function allEntries({ tenants = [""], ...victim }: Ledgers): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (const tenant of tenants) entries.push(...(await entriesOf(tenant, victim)));
  return entries;
}

async function entriesOf(tenant: string, { url, operator }: Ledgers): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let before: number | undefined;
  do {
    const query = `&chat=${tenant}${before === undefined ? "" : `&before=${before}`}`;
    const response = await persistentFetch(`${url()}/debug/ledger?limit=200${query}`, { headers: operator });
    const page = (await response.json()) as LedgerPage;
    entries.push(...page.entries);
    before = page.next;
  } while (before !== undefined);
  return entries;
}

export async function openEntries(victim: Ledgers): Promise<LedgerEntry[]> {
  return (await allEntries(victim)).filter(isOpen);
}

function isOpen({ state }: LedgerEntry): boolean {
  return state === "waiting" || state === "delivering";
}

function isQuoted(said: readonly string[], text: string): boolean {
  const escaped = text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return said.some((message) => message.includes(escaped));
}

/** Omits a repeated outage notice if an outage ended in between. */
function twice(said: readonly string[], isOneOutage: (first: number, second: number) => boolean): string[] {
  return said.filter((one, index) => {
    const before = said.slice(0, index).lastIndexOf(one);
    return before !== -1 && (!isOutageWord(one) || isOneOutage(before, index));
  });
}

/** The edge sends an outage notice once per chat and outage. */
function isOutageWord(message: string): boolean {
  return message.includes("I am unavailable at the moment.");
}

function mostOfAChat(said: readonly string[], { before, end }: { before: number; end: number }): number {
  const later = new Set(said.slice(end));
  const chats = new Map<string, number>();
  for (const message of said.slice(before, end)) {
    const [chat = ""] = message.split(" ");
    if (later.has(message) && !isOutageWord(message)) chats.set(chat, (chats.get(chat) ?? 0) + 1);
  }
  return Math.max(0, ...chats.values());
}

/**
 * Kills these supervisors' gateways. The supervisors remain stopped, so that no new gateway writes before the
 * broker has sent the last messages.
 */
export async function killGateways(supervisors: readonly number[]): Promise<void> {
  signal(supervisors, "SIGSTOP");
  const gateways = supervisors.flatMap((pid) => startedAs(pid, "gateway/main.js"));
  signal(gateways, "SIGKILL");
  while (gateways.some(runs)) await sleep(5);
  await sleep(BROKER_MS);
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids.filter(runs)) process.kill(pid, name);
}

const STEADILY_EVERY_MS = 2_500;
const STEADILY = { kills: 12, longestLifeMs: 1, mostEvents: 34, chats: 12 };

/** Kills only gateways, which their supervisors restart. */
export function killSteadily(
  victim: Omit<Victim, "kill" | "revive">,
  gateways: () => number[],
  seed: number,
): Promise<Aftermath> {
  return underKills(
    {
      ...victim,
      async kill() {
        await sleep(STEADILY_EVERY_MS);
        signal(gateways(), "SIGKILL");
      },
      revive: async () => {},
    },
    { ...STEADILY, seed },
  );
}
