import type { SandboxStatus } from "../runtime/contract/control.ts";
import { ROUTES } from "../runtime/contract/routes.ts";
import { mention } from "./standins/slack.ts";
import type { RehearsedDeployment } from "./deploy.ts";
import type { World } from "./world.ts";

const REPLY_TIMEOUT_MS = 180_000;

/** Times are in milliseconds. */
export interface Exchange {
  text: string;
  /** Status of the response to Slack: 200, or 503 if the container was asleep. */
  status: number;
  reply: string;
  /** Time from sending the event until the reply reaches Slack's stand-in. */
  replyMs: number;
  /** Time from the container's start until the gateway first responds. */
  coldStartMs: number;
}

export async function exchangeMessage(world: World, deployment: RehearsedDeployment): Promise<Exchange> {
  const { slack } = world.platforms;
  const text = `Rehearsal of ${new Date().toISOString()}: are you there?`;
  const known = new Set(slack.messages());
  const started = performance.now();
  slack.connect(new URL(ROUTES.slackEvents.path, deployment.url).href);
  const response = await slack.send(mention(text));
  if (response.status !== 200 && response.status !== 503) {
    throw new Error(`Slack's event was answered with ${response.status}: ${await response.text()}`);
  }
  const reply = await slack.waitFor((message) => !known.has(message), REPLY_TIMEOUT_MS);
  const replyMs = Math.round(performance.now() - started);
  const { coldStartMs = 0 } = await sandboxStatus(world, deployment);
  return { text, status: response.status, reply: reply.text, replyMs, coldStartMs };
}

async function sandboxStatus(world: World, { url, audience }: RehearsedDeployment): Promise<SandboxStatus> {
  const headers = await world.signIn(audience);
  const response = await fetch(new URL(ROUTES.processes.path, url), { headers });
  if (!response.ok) throw new Error(`${ROUTES.processes.path} was answered with ${response.status}`);
  return (await response.json()) as SandboxStatus;
}
