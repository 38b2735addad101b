import { randomUUID } from "node:crypto";
import type { ConfigMap, ConfigValue } from "@pulumi/pulumi/automation/index.js";
import { docker } from "../../infra/shell/docker.ts";
import type { HostNames } from "../../runtime/contract/names.ts";
import { loadConfig, type HostConfig } from "../../stacks/config.ts";
import { stackSource } from "../../stacks/config/source.ts";
import { host } from "../../stacks/host.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { hostConfig } from "../../rehearsal/stack-config.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { freePort } from "./ports.ts";
import { createTestStack, type TestStack } from "./stack.ts";
import { startStandIns } from "./targets/target.ts";

export const ADMIN_TOKEN = "the-admin-token-that-nobody-may-read";

/** Host stack under the real Pulumi engine. */
export interface HostStack extends TestStack {
  names: HostNames;
  url: string;
}

export async function leastHostConfig(): Promise<{ config: ConfigMap; url: string }> {
  const port = await freePort();
  const config = {
    "steward:target": { value: "host" },
    "steward:hostPort": { value: String(port) },
    "steward:hostAddress": { value: "127.0.0.1" },
    "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
    "steward:adminToken": { value: ADMIN_TOKEN, secret: true },
  };
  return { config, url: `http://127.0.0.1:${port}` };
}

/** `config` is added to the minimal configuration. */
export async function createHostStack(config: Record<string, ConfigValue> = {}): Promise<HostStack> {
  const name = `steward-test-${randomUUID().slice(0, 8)}`;
  const names = { container: name, volume: `${name}-data` };
  const { config: least, url } = await leastHostConfig();
  const subject = await createTestStack({
    program: () => host(loadConfig(stackSource()) as HostConfig, names),
    docker: true,
    config: { ...least, ...config },
  });
  const close = async (): Promise<void> => {
    // A failed update may leave behind a container that the state does not contain.
    await docker(["rm", "--force", names.container, `${names.container}-former`]);
    await docker(["volume", "rm", "--force", names.volume]);
    await subject.close();
  };
  return { ...subject, names, url, close };
}

/** Host stack with stand-ins for the platforms and the model. */
export interface TalkingHostStack extends HostStack {
  /** Returns the HTTP status. */
  send(text: string): Promise<number>;
  replied(text: string): Promise<void>;
  say(text: string): Promise<number>;
  modelTakes(milliseconds: number): void;
  revokeModelKey(): void;
}

/** Creates a host stack with stand-ins that its container can reach. */
export async function createTalkingHostStack(
  config: Record<string, ConfigValue> = {},
  hostname?: string,
): Promise<TalkingHostStack> {
  const { settings, platforms } = await startStandIns(hostname ?? (await bridgeAddress()));
  let delayMs = 0;
  const provider = {
    hostname: hostname ?? (await bridgeAddress()),
    port: 0,
    apiKey: settings.secrets.anthropicApiKey,
    delayMs: () => delayMs,
  };
  const model = await startModel(provider);
  const endpoints = { ...platforms.endpoints, anthropic: model.url };
  const given = hostConfig({ settings, endpoints });
  delete given["steward:hostPort"];
  delete given["steward:adminToken"];
  const subject = await createHostStack({ ...given, ...config });
  const send = async (text: string): Promise<number> => {
    const init = { method: "POST", ...platforms.slack.sign(mention(text)) };
    return (await fetch(`${subject.url}/slack/events`, init)).status;
  };
  const replied = async (text: string): Promise<void> => {
    await platforms.slack.waitFor((message) => message.text.includes(text), 120_000);
  };
  return {
    ...subject,
    send,
    replied,
    async say(text) {
      const status = await send(text);
      await replied(text);
      return status;
    },
    modelTakes: (milliseconds) => void (delayMs = milliseconds),
    revokeModelKey: () => void (provider.apiKey = "another"),
    async close() {
      await subject.close();
      await Promise.all([platforms.close(), model.close()]);
    },
  };
}
