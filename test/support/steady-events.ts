import { setTimeout as sleep } from "node:timers/promises";
import { mention, type SlackStandIn } from "../../rehearsal/standins/slack.ts";

const PAUSE_MS = 300;
const ANSWERED_MS = 120_000;
/** https://docs.slack.dev/apis/events-api/#responding */
const SLACK_WAITS_MS = 3_000;
/** Maximum time until an event is accepted, including all retries. */
const ACCEPTED_MS = 120_000;

export interface SteadyEvents {
  /** Stops sending. Resolves with the texts without a reply. */
  lost(): Promise<string[]>;
  readonly sent: number;
}

/**
 * Sends signed events until `lost` is called. Retries like Slack (https://docs.slack.dev/apis/events-api/#retries),
 * but without Slack's limit.
 */
export function sendSteadily(eventsUrl: string, slack: SlackStandIn): SteadyEvents {
  const stopping = new AbortController();
  const texts: string[] = [];
  const deliveries: Promise<void>[] = [];
  const sending = (async () => {
    while (!stopping.signal.aborted) {
      const text = `event ${crypto.randomUUID()}`;
      texts.push(text);
      const delivery = deliver(eventsUrl, slack, text);
      delivery.catch(() => undefined);
      deliveries.push(delivery);
      await sleep(PAUSE_MS);
    }
  })();
  return {
    get sent() {
      return texts.length;
    },
    async lost() {
      stopping.abort();
      await sending;
      await Promise.all(deliveries);
      const end = Date.now() + ANSWERED_MS;
      const open = () => {
        const replies = slack.messages().map((message) => message.text);
        return texts.filter((text) => !replies.some((reply) => reply.includes(text)));
      };
      while (open().length > 0 && Date.now() < end) await sleep(PAUSE_MS);
      return open();
    },
  };
}

/**
 * Sends one event in a new chat named `C<text>`.
 *
 * @throws Error if the service does not accept the event in time.
 */
export async function deliver(eventsUrl: string, slack: SlackStandIn, text: string): Promise<void> {
  const event = mention(text, { chat: `C${text}` });
  const end = Date.now() + ACCEPTED_MS;
  let outcome: unknown;
  while (outcome !== 200) {
    if (Date.now() > end) throw new Error(`"${text}" was not accepted: ${String(outcome)}`);
    if (outcome !== undefined) await sleep(PAUSE_MS);
    const signal = AbortSignal.timeout(SLACK_WAITS_MS);
    outcome = await fetch(eventsUrl, { method: "POST", signal, ...slack.sign(event) })
      .then((response) => response.status)
      .catch((error: unknown) => error);
  }
}
