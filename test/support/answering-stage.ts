import path from "node:path";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { mention, startSlack } from "../../rehearsal/standins/slack.ts";
import { MODEL_KEY, SIGNING_SECRET, startServerlessStage, type ServerlessStage } from "./serverless-stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const REPLY_MS = 180_000;

/** Emulated Cloudflare account with a stack that answers messages. Containers run as local processes. */
export interface AnsweringStage {
  world: ServerlessStage;
  endpoints: string;
  /** Sends a signed Slack message. Resolves with the reply's text. */
  converse(url?: string): Promise<string>;
  keysOf(bucket: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startAnsweringStage(): Promise<AnsweringStage> {
  const { container } = await buildBundle();
  const command = [process.execPath, path.join(container.dir, "supervisor/main.js")];
  const world = await startServerlessStage({
    containers: (dir) => ({ kind: "process", supervise: { command, dir: path.join(dir, "containers") } }),
  });
  const slack = await startSlack({
    ...LOOPBACK,
    botToken: "xoxb-test-0123456789",
    signingSecret: SIGNING_SECRET,
  });
  const model = await startModel({ ...LOOPBACK, apiKey: MODEL_KEY });
  return {
    world,
    endpoints: JSON.stringify({ anthropic: model.url, slack: slack.apiUrl }),
    async converse(url = world.front.url) {
      const known = new Set(slack.messages());
      const signed = slack.sign(mention(`Are you there, ${crypto.randomUUID()}?`));
      const { status } = await fetch(`${url}/slack/events`, { method: "POST", ...signed });
      const reply = await slack
        .waitFor((message) => !known.has(message), REPLY_MS)
        .catch((cause: unknown) => {
          throw new Error(`there is no reply; /slack/events answered ${status}`, { cause });
        });
      return reply.text;
    },
    keysOf: (bucket) =>
      world.stage.runner.withBucket(bucket, async (one) => (await one.list()).objects.map(({ key }) => key)),
    async close() {
      await world.close();
      await Promise.all([slack.close(), model.close()]);
    },
  };
}
