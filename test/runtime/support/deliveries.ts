import type { Inbound, ReplyTarget } from "../../../runtime/contract/message.ts";
import { onTestFinished, vi } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import type { AgentAnswer, AnswerOptions, Question } from "../../../runtime/gateway/agent/agent.ts";
import type { Channel } from "../../../runtime/gateway/channels/channel.ts";
import { splitMarkdown } from "../../../runtime/gateway/markdown/split.ts";
import { Actions } from "../../../runtime/gateway/actions.ts";
import { Commands } from "../../../runtime/gateway/commands.ts";
import { Replies } from "../../../runtime/gateway/inbox/replies.ts";
import { Inbox } from "../../../runtime/gateway/inbox/inbox.ts";
import { DeliveryRecords, FirstWords } from "../../../runtime/gateway/inbox/records.ts";
import { Media } from "../../../runtime/gateway/media/media.ts";
import { UsageStore } from "../../../runtime/gateway/models/usage.ts";
import { PairingDesk, WaitingSenders } from "../../../runtime/gateway/pairing/desk.ts";
import { pairingStores } from "../../../runtime/gateway/pairing/store.ts";
import { Sessions } from "../../../runtime/gateway/sessions/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "./processes.ts";

/** What reached the platform, in order: `send a`, `edit 1 ab`, `typing`, `dismiss t1`. */
type Calls = string[];

/** A channel that stands for no platform: its payload is the inbound itself, and it notes what goes out. */
function fakeChannel(changes: Partial<Channel>) {
  const calls: Calls = [];
  let count = 0;
  const place = ({ thread }: ReplyTarget): string => (thread === undefined ? "" : `@${thread}`);
  const channel: Channel = {
    platform: "telegram",
    streams: false,
    mediaMaxBytes: 1_000,
    receive: (payload) => payload as unknown as Inbound,
    unknownParts: () => [],
    split: (text) => splitMarkdown(text, 200),
    send: async (target, text) => {
      count += 1;
      calls.push(`send${place(target)} ${text}`);
      return { id: String(count) };
    },
    edit: async (target, id, text) => void calls.push(`edit${place(target)} ${id} ${text}`),
    typing: async () => void calls.push("typing"),
    dismiss: async ({ thread }) => void calls.push(`dismiss ${thread}`),
    probe: async () => {},
    health: () => ({ platform: "telegram", state: "ready" }),
    ...changes,
  };
  return { channel, calls };
}

/** No process is started, as if every file were broken. */
const refusal = (): Promise<never> => Promise.reject(new Error("no process in this test"));

/** What makes the answers. */
type Answer = (question: Question, options: AnswerOptions) => Promise<AgentAnswer>;

/**
 * The deliveries over a channel and an agent that a test writes. `again()` gives them anew over the same
 * database, as after a crash.
 */
export async function deliveriesOver(
  answer: Answer,
  changes: Partial<Channel> = {},
  media: Pick<Media, "read" | "transcriptRefusal"> = new Media({
    apart: { run: refusal },
    memoryBytes: 1_000_000_000,
    takesPdf: true,
  }),
) {
  const home = await temporaryDirectory();
  const { channel, calls } = fakeChannel(changes);
  const checked = checkConfig({ channels: { telegram: { botToken: "x", historyLimit: 2 } } });
  if (!checked.ok) throw new Error("not a config");
  const { config } = checked;
  const agent = { answer };
  const channels = {
    get: () => channel,
    probe: () => channel.probe(),
    test: async () => channel.health(),
    health: () => [channel.health()],
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const clock = Date.now;
  const again = () => {
    const database = openStore(`${home}/state.db`);
    onTestFinished(() => database.close());
    const sessions = new Sessions(database);
    const records = new DeliveryRecords(database);
    const parts = () => ({ config, channels, agent });
    const stores = pairingStores({ home, clock, onSetAside: () => {} });
    return {
      sessions,
      /** What was kept as context. */
      context: vi.spyOn(sessions, "addContext"),
      database,
      inbox: new Inbox({
        parts,
        actions: new Actions(database, clock),
        admissions: { ask: async () => {}, settle: () => "" },
        pairing: new PairingDesk({ stores, waiting: new WaitingSenders(database), onWaiting: () => {}, log }),
        commands: new Commands({ parts, sessions, usage: new UsageStore(database), clock }),
        sessions,
        report: () => {},
        records,
        replies: new Replies({
          records,
          firstWords: new FirstWords(database),
          actions: new Actions(database, clock),
          report: () => {},
          reading: () => ({ media, contextTokens: 180_000 }),
          clock,
          log,
        }),
        clock,
        log,
      }),
    };
  };
  return { ...again(), again, calls };
}

/** A direct message's delivery; `inbound` adds to what the channel reads. */
export function message(
  id: string,
  text: string,
  inbound: object = {},
  extra: Partial<Delivery> = {},
): Delivery {
  const target = { chat: "1" };
  return {
    id,
    platform: "telegram",
    conversation: "telegram:1",
    receivedAt: 1_795_000_000_000,
    payload: {
      kind: "message",
      direct: true,
      admission: { by: "config", grants: "person" },
      sender: { id: "U1" },
      text,
      attachments: [],
      target,
      ...inbound,
    },
    ...extra,
  };
}
