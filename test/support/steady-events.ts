import { setTimeout as sleep } from "node:timers/promises";
import { mention, type SlackStandIn } from "../../rehearsal/standins/slack.ts";

const PAUSE_MS = 300;
const ANSWERED_MS = 120_000;

/** A platform that goes on sending. */
export interface SteadyEvents {
  /** Sends no more, and resolves with the texts that were never replied to. */
  lost(): Promise<string[]>;
  /** So many were sent. */
  readonly sent: number;
}

/**
 * Sends a signed event several times a second until it is told to stop, as Slack does: again, unless it is answered
 * with 200 (https://docs.slack.dev/apis/events-api/#retries), here for as long as it takes.
 */
export function sendSteadily(eventsUrl: string, slack: SlackStandIn): SteadyEvents {
  const stopping = new AbortController();
  const texts: string[] = [];
  const deliveries: Promise<void>[] = [];
  const sending = (async () => {
    while (!stopping.signal.aborted) {
      const text = `event ${crypto.randomUUID()}`;
      texts.push(text);
      deliveries.push(deliver(eventsUrl, slack, text));
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

/** Sends one event until it is taken, with one id at each attempt and in a chat of its own, `C<text>`. */
export async function deliver(eventsUrl: string, slack: SlackStandIn, text: string): Promise<void> {
  const event = mention(text, { chat: `C${text}` });
  for (;;) {
    const status = await fetch(eventsUrl, { method: "POST", ...slack.sign(event) })
      .then((response) => response.status)
      .catch(() => undefined);
    if (status === 200) return;
    await sleep(PAUSE_MS);
  }
}
