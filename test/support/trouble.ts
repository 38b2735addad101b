import { setTimeout as sleep } from "node:timers/promises";
import type { SlackStandIn } from "../../rehearsal/standins/slack.ts";
import { openEntries } from "./kills.ts";
import { deliver } from "./steady-events.ts";
import type { TroubledFront } from "./troubled-front.ts";

const MESSAGES = 200;
const APART_MS = 150;
const KILLS = 3;
/** Behind the last message and the last fault: retries of the edge wait up to half a minute by then. */
const SETTLE_MS = 150_000;
const LOOK_MS = 250;

/** A deployment under trouble. */
export interface Troubled {
  url: string;
  slack: SlackStandIn;
  front: TroubledFront;
  /** Headers of an operator. */
  operator: Record<string, string>;
  /** The processes that are killed: its gateway. */
  gateways(): number[];
}

/** What came of it. */
export interface Outcome {
  /** Messages that have neither an answer nor a failure in the ledger. */
  unsettled: string[];
  /** Messages whose chat has read nothing, and that the ledger calls settled. */
  silent: string[];
  /** The longest wait for a first word or a notice, in seconds. */
  longestSeconds: number;
  /** Texts that a chat has read twice without a kill between them. */
  twice: string[];
  /** Chats that have read of a delay. */
  told: number;
}

/** Sends 200 messages, each in a chat of its own, while the model, Slack and the gateway fail, and watches the chats. */
export async function underTrouble({ url, slack, front, operator, gateways }: Troubled): Promise<Outcome> {
  const accepted = new Map<string, number>();
  const heard = new Map<string, number>();
  const watch = setInterval(() => {
    for (const { channel } of slack.messages()) if (!heard.has(channel)) heard.set(channel, Date.now());
  }, LOOK_MS);
  /** Messages of the chats at each kill. */
  const lives: number[] = [0];
  front.trouble = true;
  const sending: Promise<void>[] = [];
  for (let count = 0; count < MESSAGES; count += 1) {
    const text = `message ${count}`;
    const sent = deliver(`${url}/slack/events`, slack, text);
    sending.push(sent.then(() => void accepted.set(`C${text}`, Date.now())));
    if (count % Math.floor(MESSAGES / KILLS) === 50) {
      for (const pid of gateways()) process.kill(pid, "SIGKILL");
      lives.push(slack.messages().length);
    }
    await sleep(APART_MS);
  }
  front.trouble = false;
  await Promise.all(sending);

  const isAnswered = (chat: string): boolean =>
    slack
      .messages()
      .some(
        ({ channel, text }) =>
          channel === chat && text.includes("You said:") && text.includes(chat.slice("C".length)),
      );
  const chats = [...accepted.keys()];
  const end = Date.now() + SETTLE_MS;
  while (!chats.every(isAnswered) && Date.now() < end) await sleep(1_000);
  clearInterval(watch);

  const open = await openEntries({ url: () => url, operator });
  const waits = chats.map(
    (chat) => ((heard.get(chat) ?? Number.POSITIVE_INFINITY) - (accepted.get(chat) ?? 0)) / 1_000,
  );
  const said = slack.messages().map(({ channel, text }) => `${channel}: ${text}`);
  const twice = lives.flatMap((begin, life) => {
    const own = said.slice(begin, lives[life + 1]);
    return own.filter((one, index) => own.indexOf(one) !== index);
  });
  return {
    unsettled: [...chats.filter((chat) => !isAnswered(chat)), ...open.map(({ key }) => key)],
    silent: chats.filter((chat) => !heard.has(chat)),
    longestSeconds: Math.max(...waits),
    twice,
    told: said.filter((one) => /cannot answer|not begun/.test(one)).length,
  };
}
