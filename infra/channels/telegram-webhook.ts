import * as pulumi from "@pulumi/pulumi";
import { TELEGRAM_UPDATES } from "../../runtime/contract/telegram.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { bodyFields } from "./platform-call.ts";
import { askTelegram, botIdOf, callTelegram, type TelegramBot } from "./telegram-api.ts";

/**
 * Destination of a bot's updates. The token is an input, because a bot that the stack no longer uses can only be
 * reached by its token.
 */
export interface WebhookInputs extends TelegramBot {
  /** An https address on port 443, 80, 88 or 8443. */
  url: pulumi.Input<string>;
  /** Repeated by Telegram with each update: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  secretToken: string;
  /** Kinds of updates to deliver. Telegram does not send the others. */
  allowedUpdates: readonly string[];
  /** Deliveries at the same time, 1 to 100. */
  maxConnections: number;
}

const KEYS = ["botToken", "url", "secretToken", "allowedUpdates", "maxConnections"] as const;
/** Telegram's default, given so that a change is seen: https://core.telegram.org/bots/api#setwebhook */
const MAX_CONNECTIONS = 40;

/** See {@link WebhookInputs}. The resource's id is the bot's id, so a change to another bot replaces the resource. */
export const telegramWebhookProvider: ResourceProvider<WebhookInputs, WebhookInputs> = {
  async diff(id, olds, news) {
    const replaces = id === botIdOf(news.botToken) ? [] : ["botToken"];
    return { changes: KEYS.some((key) => !isSame(olds[key], news[key])), replaces };
  },

  async create(inputs) {
    await setWebhook(inputs);
    return { id: botIdOf(inputs.botToken), outs: inputs };
  },

  /**
   * Reads everything that Telegram reports. It never reports the secret, nor whether an IP address was set. A secret
   * that was changed by hand is therefore not noticed here; it shows as `last_error_message` once an update arrives.
   */
  async read(id, props) {
    const info = bodyFields(await callTelegram(props, "getWebhookInfo"));
    const url = addressOf(info);
    const { allowed_updates: allowed, max_connections: most } = info;
    const inputs = {
      ...props,
      url,
      // Absent if every kind is delivered.
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
   * Leaves alone what someone else has set since. A token that Telegram no longer knows is not an error: otherwise the
   * stack could never be destroyed.
   */
  async delete(_id, props) {
    const answer = await askTelegram(props, "getWebhookInfo");
    if (answer.refused || addressOf(answer.result) !== props.url) return;
    await callTelegram(props, "deleteWebhook", { drop_pending_updates: false });
  },
};

/** https://core.telegram.org/bots/api#setwebhook. Updates that are waiting are delivered, not dropped. */
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
 * Compares two inputs. A missing old input counts as equal: a stack that was deployed before the input existed sent the
 * same value, or Telegram's default applied.
 */
function isSame(old: unknown, wanted: unknown): boolean {
  return old === undefined || JSON.stringify(old) === JSON.stringify(wanted);
}

/** https://core.telegram.org/bots/api#webhookinfo */
function addressOf(info: unknown): string {
  const { url } = bodyFields(info);
  return typeof url === "string" ? url : "";
}

/** Arguments of {@link TelegramWebhook}. */
export interface TelegramWebhookArgs {
  /** A Pulumi secret. */
  botToken: pulumi.Output<string>;
  /** An https address on port 443, 80, 88 or 8443. */
  url: pulumi.Input<string>;
  /** A Pulumi secret: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  secretToken: pulumi.Output<string>;
  connection?: ConnectionArgs | undefined;
}

/**
 * The address that Telegram delivers a bot's updates to. Let it depend on the readiness check: updates arrive as soon
 * as the webhook is created.
 */
export class TelegramWebhook extends OwnResource {
  constructor(name: string, args: TelegramWebhookArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken", "secretToken"] };
    const inputs = { ...args, allowedUpdates: [...TELEGRAM_UPDATES], maxConnections: MAX_CONNECTIONS };
    super("channels:TelegramWebhook", name, inputs, secret);
  }
}
