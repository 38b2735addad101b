import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SlackStandIn } from "../../rehearsal/standins/slack.ts";
import { fillVolume } from "./full-volume.ts";
import { openEntries, signal, TS_MS } from "./kills.ts";
import { deliver } from "./steady-events.ts";
import type { TroubledFront } from "./troubled-front.ts";

const MESSAGES = 200;
const APART_MS = 150;
const KILLS = 3;
/** The volume is full between these messages. */
const FULL = { from: 80, to: 110 };
/** The edge may wait half a minute between retries. */
const SETTLE_MS = 150_000;
const LOOK_MS = 250;
const IN_FLIGHT_MS = 2_000;

export interface Troubled {
  url: string;
  slack: SlackStandIn;
  front: TroubledFront;
  operator: Record<string, string>;
  /** Process ids. */
  gateways(): number[];
  /** Path of the volume with the data. */
  volume: string;
}

export interface Outcome {
  /** Chats without an answer, and keys of unsettled ledger entries. */
  unsettled: string[];
  silent: string[];
  longestSeconds: number;
  /** Messages that a chat received twice without a kill in between. */
  twice: string[];
  told: number;
}

/** Sends 200 messages to 200 chats while the model, Slack, the gateway and the volume fail. */
export async function underTrouble(troubled: Troubled): Promise<Outcome> {
  const { url, slack, front, operator, gateways, volume } = troubled;
  const filler = join(volume, "filler");
  const accepted = new Map<string, number>();
  const heard = new Map<string, number>();
  const look = (): void => {
    for (const { channel } of slack.messages()) if (!heard.has(channel)) heard.set(channel, Date.now());
  };
  const watch = setInterval(look, LOOK_MS);
  const kills: number[] = [];
  front.trouble = true;
  const sending: Promise<void>[] = [];
  for (let count = 0; count < MESSAGES; count += 1) {
    const text = `message ${count}`;
    const sent = deliver(`${url}/slack/events`, slack, text);
    sending.push(sent.then(() => void accepted.set(`C${text}`, Date.now())));
    if (count % Math.floor(MESSAGES / KILLS) === 50) {
      signal(gateways(), "SIGKILL");
      kills.push(Date.now());
    }
    if (count === FULL.from) fillVolume(filler);
    if (count === FULL.to) await rm(filler);
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
  let open = await openEntries({ url: () => url, operator });
  // The ledger settles an event only shortly after the chat gets the answer.
  while (!(chats.every(isAnswered) && open.length === 0) && Date.now() < end) {
    await sleep(1_000);
    open = await openEntries({ url: () => url, operator });
  }
  clearInterval(watch);
  look();

  const waits = chats.map(
    (chat) => ((heard.get(chat) ?? Number.POSITIVE_INFINITY) - (accepted.get(chat) ?? 0)) / 1_000,
  );
  const said = slack.messages().map(({ channel, text }) => `${channel}: ${text}`);
  const times = slack.messages().map(({ ts }) => Number(ts) * 1_000);
  const twice = said.filter((one, index) => {
    const first = said.indexOf(one);
    const [from = 0, to = 0] = [times[first], times[index]];
    // A killed process may have sent a message without recording it.
    return first !== index && !kills.some((kill) => kill > from - IN_FLIGHT_MS && kill < to + TS_MS);
  });
  return {
    unsettled: [...chats.filter((chat) => !isAnswered(chat)), ...open.map(({ key }) => key)],
    silent: chats.filter((chat) => !heard.has(chat)),
    longestSeconds: Math.max(...waits),
    twice,
    told: said.filter((one) => /cannot answer|not begun/.test(one)).length,
  };
}
