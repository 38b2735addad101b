import { onTestFinished } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { startGateway as startInProcess, type GatewayOptions } from "../../../runtime/gateway/start.ts";
import { askJson, deliver, delivery, surroundings, writeConfig } from "./gateway.ts";
import { startChatModel } from "./models.ts";
import { modelError } from "./platforms.ts";

export const PRIMARY = "anthropic/claude-sonnet-4-5";
export const FALLBACK = "acme/gpt-test";
/** When {@link timed} begins. */
export const DAY = Date.UTC(2026, 10, 20, 12);

/** Surroundings with a second model behind the first. */
export async function pair(models: object = {}) {
  const around = await surroundings();
  const chat = await startChatModel();
  const acme = { baseUrl: chat.baseUrl, apiKey: "acme-key-0123456789" };
  await writeConfig(around.home, {}, { models: { fallbacks: [FALLBACK], providers: { acme }, ...models } });
  const texts = (): (string | null)[] => around.slack.posts().map(({ text }) => text);
  const status = () => askJson<GatewayStatus>(`${around.url}/status`);
  let events = 0;
  /** Asks in a chat of its own. */
  const say = () => {
    events += 1;
    const at = `C${events}`;
    return deliver(around.url, {
      ...delivery(`Ev${events}`, { channel: at }),
      conversation: `slack:T1:${at}`,
    });
  };
  return { ...around, chat, texts, status, say };
}

/** A gateway in this process, whose clock the test moves. */
export async function timed(environment: Record<string, string>, extra: Partial<GatewayOptions> = {}) {
  const time = { now: DAY };
  const lines: string[] = [];
  const gateway = await startInProcess({
    environment,
    clock: () => time.now,
    write: (line) => void lines.push(line),
    ...extra,
  });
  onTestFinished(() => gateway.close());
  return { pass: (ms: number) => void (time.now += ms), lines };
}

/** Passes: it is tried again. */
export const overloaded = modelError(529, "overloaded_error", "Overloaded");
