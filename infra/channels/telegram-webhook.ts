import * as pulumi from "@pulumi/pulumi";
import { TELEGRAM_UPDATES } from "../../runtime/contract/telegram.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { bodyFields } from "./platform-call.ts";
import { askTelegram, botIdOf, callTelegram, type TelegramBot } from "./telegram-api.ts";

/**
 * Inputs of the webhook. They include the bot's token, because after a change of bot, the old webhook can be removed
 * only with the old bot's token.
 */
export interface WebhookInputs extends TelegramBot {
  /** An https address on port 443, 80, 88 or 8443. */
  url: pulumi.Input<string>;
  /** Secret that Telegram sends with each update: 1 to 256 characters from A-Z, a-z, 0-9, _ and -. */
  secretToken: string;
  /** Kinds of updates to deliver. Telegram drops the others. */
  allowedUpdates: readonly string[];
  /** Maximum concurrent deliveries, 1 to 100. */
  maxConnections: number;
}

const KEYS = ["botToken", "url", "secretToken", "allowedUpdates", "maxConnections"] as const;
/**
 * Telegram's default, set explicitly so that refreshes detect changes: https://core.telegram.org/bots/api#setwebhook
 */
const MAX_CONNECTIONS = 40;

/**
 * Provider of {@link TelegramWebhook}. The resource's id is the bot's id, so switching to another bot replaces the
 * resource.
 */
export const telegramWebhookProvider: ResourceProvider<WebhookInputs, WebhookInputs> = {
  async diff(id, olds, news) {
    const replaces = id === botIdOf(news.botToken) ? [] : ["botToken"];
    return { changes: KEYS.some((key) => !isSame(olds[key], news[key])), replaces };
  },

  async create(inputs) {
    await setWebhook(inputs);
    return { id: botIdOf(inputs.botToken), outs: inputs };
  },

  /** Reads the webhook without its secret, which Telegram never reports. */
  async read(id, props) {
    const info = bodyFields(await callTelegram(props, "getWebhookInfo"));
    const url = addressOf(info);
    const { allowed_updates: allowed, max_connections: most } = info;
    const inputs = {
      ...props,
      url,
      // Telegram omits this list if it delivers every kind of update.
      allowedUpdates: Array.isArray(allowed) ? allowed.map(String) : [],
      maxConnections: typeof most === "number" ? most : MAX_CONNECTIONS,
    };
    return url === "" ? { id: "" } : { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await setWebhook(news);
    return { outs: news };
  },

  /**
   * Deletes the webhook unless somebody has changed it. Ignores a rejected token, so that the stack can still be
   * destroyed.
   */
  async delete(_id, props) {
    const answer = await askTelegram(props, "getWebhookInfo");
    if (answer.refused || addressOf(answer.result) !== props.url) return;
    await callTelegram(props, "deleteWebhook", { drop_pending_updates: false });
  },
};

/** Keeps pending updates: https://core.telegram.org/bots/api#setwebhook */
async function setWebhook(inputs: WebhookInputs): Promise<void> {
  await callTelegram(inputs, "setWebhook", {
    url: inputs.url,
    secret_token: inputs.secretToken,
    allowed_updates: inputs.allowedUpdates,
    max_connections: inputs.maxConnections,
    drop_pending_updates: false,
  });
}

/**
 * Returns true if the values are equal or `old` is undefined. `old` is undefined if the stack's state was written by
 * a version of this program that did not yet store the value.
 */
function isSame(old: unknown, wanted: unknown): boolean {
  return old === undefined || JSON.stringify(old) === JSON.stringify(wanted);
}

/** https://core.telegram.org/bots/api#webhookinfo */
function addressOf(info: unknown): string {
  const { url } = bodyFields(info);
  return typeof url === "string" ? url : "";
}

export interface TelegramWebhookArgs {
  /** A Pulumi secret. */
  botToken: pulumi.Output<string>;
  /** An https address on port 443, 80, 88 or 8443. */
  url: pulumi.Input<string>;
  /** A Pulumi secret: 1 to 256 characters from A-Z, a-z, 0-9, _ and -. */
  secretToken: pulumi.Output<string>;
  connection?: ConnectionArgs | undefined;
}

/**
 * The webhook to which Telegram delivers a bot's updates. Must depend on the readiness check, because updates arrive
 * immediately.
 */
export class TelegramWebhook extends OwnResource {
  constructor(name: string, args: TelegramWebhookArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken", "secretToken"] };
    const inputs = { ...args, allowedUpdates: [...TELEGRAM_UPDATES], maxConnections: MAX_CONNECTIONS };
    super("channels:TelegramWebhook", name, inputs, secret);
  }
}
