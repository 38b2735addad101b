import { setTimeout as sleep } from "node:timers/promises";
import { mention, type SlackStandIn } from "../../rehearsal/standins/slack.ts";
import { runs } from "./measure.ts";
import { generator } from "./random.ts";
import type { LedgerEntry, LedgerPage } from "../../runtime/edge/ports.ts";

/** The stand-in's `ts` has whole seconds, and a number in place of the rest. */
export const TS_MS = 1_000;
/** Behind the last kill: retries wait a few seconds, and their number is small. */
const SETTLE_MS = 120_000;

/** What is killed while events come in. */
export interface Victim {
  url(): string;
  slack: SlackStandIn;
  /** Headers of an operator. */
  operator: Record<string, string>;
  /** Tenants with a ledger of their own. Default: one ledger for all. */
  tenants?: readonly string[];
  /** Kills with SIGKILL; resolves when nothing can send a message any more, until it is revived. */
  kill(random: () => number): Promise<void>;
  /** Starts again what does not start by itself, and lets go on what waits. */
  revive(): Promise<void>;
}

/** How often and under how many events. */
export interface KillPlan {
  kills: number;
  longestLifeMs: number;
  /** Between two kills. */
  mostEvents: number;
  chats: number;
  seed: number;
}

/** What came of it. */
export interface Aftermath {
  events: number;
  /** Texts of the events that got no reply and are not given up in the ledger either. */
  lost: string[];
  /** What the ledger still holds, for the report of a failure. */
  open: LedgerEntry[];
  /** Messages that were sent more than once between two kills. */
  twiceInALife: string[];
  /** Messages that were sent again after a kill. */
  repeated: number;
  /** Of the messages that one chat got between two kills, how many were sent again later: the most of all. */
  mostRepeatedOfAChat: number;
}

/** An event as Slack sends it: sent again until it was answered 200, under the same id. */
interface Sent {
  id: string;
  event: object;
  /** What the reply to it has to quote. */
  text: string;
  accepted: boolean;
}

/** Sends signed events while it kills, and waits until all of them are settled. */
export async function underKills(victim: Victim, plan: KillPlan): Promise<Aftermath> {
  const random = generator(plan.seed);
  const events: Sent[] = [];
  /** How many messages were out at the end of each life. */
  const ends: number[] = [];
  for (let kill = 0; kill < plan.kills; kill += 1) {
    const count = 1 + Math.floor(random() * plan.mostEvents);
    const chat = () => `C${Math.floor(random() * plan.chats)}`;
    const fresh = Array.from({ length: count }, (_, index) => sent(`<${kill}.${index}>`, chat()));
    events.push(...fresh);
    const posts = Promise.all(fresh.map((one) => post(victim, one)));
    await sleep(random() * plan.longestLifeMs);
    await victim.kill(random);
    // What was on its way at the kill counts to the life that has sent it: the broker may go on with it.
    await victim.slack.quiet();
    ends.push(victim.slack.messages().length);
    await victim.revive();
    await posts;
  }

  const settled = async (): Promise<boolean> => {
    for (const one of events) await post(victim, one);
    // Many ledgers are not looked at each second: requests of an operator are limited.
    const isOver = victim.tenants && events.every(({ text }) => isQuoted(texts(victim), text));
    return events.every(({ accepted }) => accepted) && (isOver ?? (await openEntries(victim)).length === 0);
  };
  const deadline = performance.now() + SETTLE_MS;
  while (!(await settled()) && performance.now() < deadline) await sleep(1_000);

  const entries = await allEntries(victim);
  const dead = new Set(entries.filter(({ state }) => state === "failed").map(({ key }) => key));
  const said = texts(victim);
  const lives = [...ends, said.length].map((end, life) => ({ before: ends[life - 1] ?? 0, end }));
  const times = victim.slack.messages().map(({ ts }) => Number(ts) * 1_000);
  // An answer that was sent before a kill is settled after it, and ends an outage without another message.
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

/** Any answer but 200 is asked again later, as Slack does; so is none. */
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

/** Each whole ledger, a page at a time. */
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
    const response = await fetch(`${url()}/debug/ledger?limit=200${query}`, { headers: operator });
    const page = (await response.json()) as LedgerPage;
    entries.push(...page.entries);
    before = page.next;
  } while (before !== undefined);
  return entries;
}

/** Returns what the ledger has not settled yet. */
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

/** @param isOneOutage tells whether no outage has ended between two messages */
function twice(said: readonly string[], isOneOutage: (first: number, second: number) => boolean): string[] {
  return said.filter((one, index) => {
    const before = said.slice(0, index).lastIndexOf(one);
    return before !== -1 && (!isOutageWord(one) || isOneOutage(before, index));
  });
}

/** The edge tells a chat once in each outage, and an outage ends with the first answer in any chat. */
function isOutageWord(message: string): boolean {
  return message.includes("I am unavailable at the moment.");
}

/** How many messages of a life were said again after it, of the chat that has the most of them. */
function mostOfAChat(said: readonly string[], { before, end }: { before: number; end: number }): number {
  const later = new Set(said.slice(end));
  const chats = new Map<string, number>();
  for (const message of said.slice(before, end)) {
    const [chat = ""] = message.split(" ");
    if (later.has(message)) chats.set(chat, (chats.get(chat) ?? 0) + 1);
  }
  return Math.max(0, ...chats.values());
}

const STEADILY_EVERY_MS = 2_500;
/** For half a minute, under some 200 events. */
const STEADILY = { kills: 12, longestLifeMs: 1, mostEvents: 34, chats: 12 };

/** Kills the gateways alone, from outside and every 2.5 s, and leaves them to whoever starts them again. */
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
        for (const pid of gateways().filter(runs)) process.kill(pid, "SIGKILL");
      },
      revive: async () => {},
    },
    { ...STEADILY, seed },
  );
}
