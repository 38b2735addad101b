import { join } from "node:path";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { CONTROL_TOKEN, eventually, SECRETS, startRuntime, temporaryDirectory } from "./processes.ts";
import type { DeliveryEnd } from "../../../runtime/contract/delivery.ts";
import { startModel, startSlack } from "./platforms.ts";
import { freePort } from "../../support/ports.ts";

/** An event as Slack sends it, as the edge hands it on. A mention in a channel unless told otherwise. */
export function delivery(id: string, event: Record<string, unknown> = {}) {
  return {
    id,
    platform: "slack",
    conversation: "slack:T1:C1",
    // Old enough that no later message joins this one, but too new for a delay notice.
    receivedAt: Date.now() - 30_000,
    payload: {
      type: "event_callback",
      event_id: id,
      team_id: "T1",
      api_app_id: "A1",
      authorizations: [{ team_id: "T1", user_id: "UBOT", is_bot: true }],
      event: { type: "app_mention", channel: "C1", user: "U1", ts: "100.1", text: "<@UBOT> hello", ...event },
    },
  };
}

/** A direct message to the bot. */
export function directMessage(id: string, event: Record<string, unknown> = {}) {
  return delivery(id, { type: "message", channel: "D1", channel_type: "im", text: "hello", ...event });
}

/** Writes a config file with Slack in it, at once for a gateway that runs; `slack` adds keys to the channel. */
export async function writeConfig(home: string, slack: object = {}, others: object = {}): Promise<void> {
  const channel = { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: { env: "SLACK_SIGNING_SECRET" } };
  await mkdir(home, { recursive: true });
  const config = { channels: { slack: { ...channel, ...slack } }, ...others };
  const file = join(home, "steward.json");
  await writeFile(`${file}.new`, JSON.stringify(config));
  await rename(`${file}.new`, file);
}

/** A gateway's surroundings: its directory, stand-ins, and the environment that names them. */
export async function surroundings() {
  const [home, port, model, slack] = await Promise.all([
    temporaryDirectory(),
    freePort(),
    startModel(),
    startSlack(),
  ]);
  const environment: Record<string, string> = {
    ...SECRETS,
    STEWARD_HOME: home,
    GATEWAY_PORT: String(port),
    STEWARD_CONTROL_TOKEN: CONTROL_TOKEN,
    ANTHROPIC_BASE_URL: model.url,
    SLACK_API_URL: slack.apiUrl,
  };
  return { home, port, model, slack, environment, url: `http://127.0.0.1:${port}` };
}

/** Asks with the control token. */
export function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { authorization: `Bearer ${CONTROL_TOKEN}`, ...init.headers } });
}

/** Asks with the control token for JSON of a known form. */
export async function askJson<T>(url: string): Promise<T> {
  return (await (await ask(url)).json()) as T;
}

/** Hands a delivery to a gateway; gives the status, the parsed answer and Retry-After. */
export async function deliver(url: string, body: object) {
  const headers = { "content-type": "application/json" };
  const response = await ask(`${url}/deliveries`, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, answer, retryAfter: response.headers.get("retry-after") };
}

/** Hands a chat's events to a gateway in one request; gives each one's end, as {@link deliver} does. */
export async function deliverAll(url: string, deliveries: readonly object[], after?: string) {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ after, deliveries });
  const response = await ask(`${url}/deliveries/chat`, { method: "POST", headers, body });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  const ends = lines.map((line) => JSON.parse(line) as DeliveryEnd).sort((a, b) => a.index - b.index);
  return ends.map(({ status, body: answer, retryAfter = null }) => ({
    status,
    answer: answer as Record<string, unknown>,
    retryAfter,
  }));
}

/** Starts a gateway and waits for it. */
export async function startGateway(environment: Record<string, string>) {
  const gateway = startRuntime("gateway/main.ts", environment);
  await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${environment["GATEWAY_PORT"]}/readyz`).catch(
      () => undefined,
    );
    return response?.ok;
  });
  return gateway;
}
