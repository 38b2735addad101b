import path from "node:path";
import type { Delivery } from "../../runtime/contract/delivery.ts";
import { LedgerStore } from "../../runtime/edge/ledger/store.ts";
import { ActivityStore } from "../../runtime/edge/ledger/activity.ts";
import { addSchedule } from "../../runtime/gateway/schedules/port.ts";
import { openSqlite } from "../../runtime/host/ledger.ts";
import { inHome } from "./chat-data.ts";

/** Names that break a page which does not escape or shorten them. Each contains `مرحبا`. */
export const HOSTILE_NAMES = [
  "مرحبا بالعالم",
  `مرحبا ${"x".repeat(190)}`,
  "مرحبا 👩‍👩‍👧‍👦🏳️‍🌈",
  "مرحبا <b>bold</b>",
  "مرحبا <script>window.hacked=1</script>",
  'مرحبا "><img src=x onerror=window.hacked=1>',
  "مرحبا\r\nsecond line",
  "مرحبا \u202Eevil\u2066",
  "مرحبا &amp; ${7*7} {{7*7}}",
];

interface Amounts {
  events: number;
  people: number;
  conversations: number;
  schedules: number;
  /** People per platform who wait for approval. Default: 2. */
  waiting?: number;
  names?: readonly string[];
}

/** Fills a host's data directory before the host's first start. */
export async function fillHome(home: string, amounts: Amounts): Promise<void> {
  const { events, people, conversations, schedules, waiting = 2, names } = amounts;
  const now = Date.now();
  const nameOf = (index: number): string => names?.[index % names.length] ?? `Person ${index} Lovelace`;
  await inHome(home, async ({ sessions, pairing, schedules: plans, sources, usage }) => {
    for (let index = 0; index < people; index += 1) {
      pairing("telegram").grant(String(1_000 + index), index % 9 === 0 ? "operator" : "person");
      const source = { platform: "telegram", person: String(1_000 + index), place: String(1_000 + index) };
      sources.add(source, { model: "anthropic/claude-sonnet-4-5", tokens: { input: index, output: 7 } }, now);
    }
    usage.add("anthropic/claude-sonnet-4-5", { input: 40_000, output: 2_000 }, now);
    for (let index = 0; index < waiting; index += 1) {
      for (const platform of ["telegram", "slack", "discord"] as const)
        pairing(platform).request(String(9_000 + index), { username: nameOf(index) });
    }
    for (let index = 0; index < conversations; index += 1) {
      const sender = { id: String(1_000 + index), name: nameOf(index) };
      const [session, delivery] = [`telegram:${1_000 + index}`, `busy-${index}`];
      sessions.ask({
        session,
        messages: [{ delivery, sender, text: "hello" }],
        group: false,
        at: now - index,
      });
      sessions.keepAnswer(session, [delivery], "good day", now - index + 1);
    }
    for (let index = 0; index < schedules; index += 1) {
      const to = { platform: "telegram", chat: String(1_000 + index) } as const;
      const plan = { enabled: true, cron: `${index} 9 * * 1-5`, to, text: `Good morning, ${nameOf(index)}` };
      await addSchedule(plans, "chat", plan, now);
    }
  });
  const sql = openSqlite(path.join(home, "state.db"));
  const ledger = new LedgerStore(sql);
  const activity = new ActivityStore(sql, () => now);
  for (let index = 0; index < events; index += 1) {
    const event = telegramEvent(index, now - (events - index) * 1_000, nameOf, Math.max(1, people));
    ledger.record(event);
    const group = index % 2 === 0 ? String(-2_000 - (index % 40)) : undefined;
    ledger.settle(`telegram:${event.id}`, ENDS[index % ENDS.length]?.(group) ?? ANSWERED, now);
  }
  for (let index = 0; index < people; index += 1) {
    activity.record({ by: "operator", action: "grant", detail: `pairing telegram ${1_000 + index} person` });
  }
  sql.close();
}

const ANSWERED = { state: "answered", note: "answered" } as const;
const ENDS = [
  (group: string | undefined) =>
    ({ state: "ignored", note: "The config does not list the group.", group }) as const,
  () => ANSWERED,
  () => ({ state: "failed", note: "503 gateway_unavailable: The gateway cannot start." }) as const,
  () => ANSWERED,
];

function telegramEvent(
  index: number,
  receivedAt: number,
  nameOf: (index: number) => string,
  people: number,
): Delivery {
  const from = { id: 1_000 + (index % people), is_bot: false, first_name: nameOf(index) };
  const group = { id: -2_000 - (index % 40), type: "supergroup", title: nameOf(index + 1) };
  const chat = index % 2 === 0 ? group : { id: from.id, type: "private" };
  const payload = { update_id: index, message: { message_id: index, date: 0, text: "hello", from, chat } };
  return { id: String(index), platform: "telegram", conversation: String(chat.id), receivedAt, payload };
}
