import { mention, type SlackStandIn } from "../../rehearsal/standins/slack.ts";

/** Nothing here takes as long; a reply that does not come ends the measurement. */
const REPLY_MS = 30_000;

/** Sends one signed mention in a channel and waits for its reply. Milliseconds between the two. */
async function ask(slack: SlackStandIn, url: string, chat: string): Promise<number> {
  // Never the same twice: the stand-in keeps what was said in earlier runs.
  const text = crypto.randomUUID();
  const started = performance.now();
  const reply = slack.waitFor((message) => message.channel === chat && message.text.includes(text), REPLY_MS);
  const response = await fetch(`${url}/slack/events`, {
    method: "POST",
    ...slack.sign(mention(text, { chat })),
  });
  if (response.status !== 200) throw new Error(`the event was answered ${response.status}`);
  await response.body?.cancel();
  await reply;
  return performance.now() - started;
}

/** Asks one after the other. Milliseconds of each. */
export async function askInTurn(
  slack: SlackStandIn,
  url: string,
  count: number,
  chats: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    times.push(await ask(slack, url, `C${index % chats}`));
  }
  return times;
}

/** Asks in as many chats at once. Milliseconds of each. */
export function askSideBySide(slack: SlackStandIn, url: string, chats: number): Promise<number[]> {
  return Promise.all(Array.from({ length: chats }, (_, index) => ask(slack, url, `S${index}`)));
}

/** The stand-ins' own share of a message: one streamed answer and one post. Milliseconds of each. */
export async function askStandIns(environment: Record<string, string>, count: number): Promise<number[]> {
  const { ANTHROPIC_API_KEY = "", ANTHROPIC_BASE_URL, SLACK_BOT_TOKEN, SLACK_API_URL } = environment;
  const type = { "content-type": "application/json" };
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const started = performance.now();
    const messages = [{ role: "user", content: crypto.randomUUID() }];
    const answer = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, {
      method: "POST",
      headers: { ...type, "x-api-key": ANTHROPIC_API_KEY },
      body: JSON.stringify({ model: "bench", max_tokens: 100, stream: true, messages }),
    });
    await answer.text();
    const post = await fetch(`${SLACK_API_URL}chat.postMessage`, {
      method: "POST",
      headers: { ...type, authorization: `Bearer ${SLACK_BOT_TOKEN}` },
      body: JSON.stringify({ channel: "C0", text: "an answer" }),
    });
    await post.text();
    times.push(performance.now() - started);
  }
  return times;
}
