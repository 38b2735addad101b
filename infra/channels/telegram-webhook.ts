import * as pulumi from "@pulumi/pulumi";
import { TELEGRAM_UPDATES } from "../../runtime/contract/telegram.ts";
import { DynamicResource } from "../dynamic/resource.ts";
import { configureEndpoints } from "./endpoints.ts";
import { fieldsOf } from "./platform-call.ts";
import { askTelegram, botIdOf, callTelegram, type TelegramBot } from "./telegram-api.ts";

/** Destination of a bot's updates. The token is an input, since a bot that is left behind is known by it alone. */
export interface WebhookInputs extends TelegramBot {
  /** An https address on port 443, 80, 88 or 8443. */
  url: string;
  /** Repeated by Telegram with each update: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  secretToken: string;
  /** Kinds of updates that are delivered. Telegram leaves the rest alone. */
  allowedUpdates: readonly string[];
  /** Deliveries at the same time, 1 to 100. */
  maxConnections: number;
}

const KEYS = ["botToken", "url", "secretToken", "allowedUpdates", "maxConnections"] as const;
/** Telegram's default, given so that a change is seen: https://core.telegram.org/bots/api#setwebhook */
const MAX_CONNECTIONS = 40;

/** See {@link WebhookInputs}. The id is the bot's own, so another bot is a replacement. */
export const telegramWebhookProvider: pulumi.dynamic.ResourceProvider<WebhookInputs, WebhookInputs> = {
  configure: configureEndpoints,

  async diff(id, olds, news) {
    const replaces = id === botIdOf(news.botToken) ? [] : ["botToken"];
    return { changes: KEYS.some((key) => !isSame(olds[key], news[key])), replaces };
  },

  async create(inputs) {
    await setWebhook(inputs);
    return { id: botIdOf(inputs.botToken), outs: inputs };
  },

  /**
   * Reads all that Telegram tells. It never tells the secret, nor whether an IP address was given: another secret set
   * by hand is not seen here, and shows as `last_error_message` once an update comes.
   */
  async read(id, props) {
    if (!props) throw new Error("A webhook cannot be imported: deploy, and it is set again.");
    const info = fieldsOf(await callTelegram(props, "getWebhookInfo"));
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
   * Leaves alone what someone else has set since. So does a token that Telegram does not know any more:
   * an error there would keep the stack from ever being destroyed.
   */
  async delete(_id, props) {
    const answer = await askTelegram(props, "getWebhookInfo");
    if (answer.refused || addressOf(answer.result) !== props.url) return;
    await callTelegram(props, "deleteWebhook", { drop_pending_updates: false });
  },
};

/** https://core.telegram.org/bots/api#setwebhook. What has gathered is delivered, not dropped. */
async function setWebhook(inputs: WebhookInputs): Promise<void> {
  await callTelegram(inputs, "setWebhook", {
    url: inputs.url,
    secret_token: inputs.secretToken,
    allowed_updates: inputs.allowedUpdates,
    max_connections: inputs.maxConnections,
    drop_pending_updates: false,
  });
}

/** Compares two inputs. A stack that was deployed before an input existed sent the same, or Telegram's default. */
function isSame(old: unknown, wanted: unknown): boolean {
  return old === undefined || JSON.stringify(old) === JSON.stringify(wanted);
}

/** https://core.telegram.org/bots/api#webhookinfo */
function addressOf(info: unknown): string {
  const { url } = fieldsOf(info);
  return typeof url === "string" ? url : "";
}

/** Arguments of {@link TelegramWebhook}. */
export interface TelegramWebhookArgs {
  /** A Pulumi secret. */
  botToken: pulumi.Output<string>;
  /** An https address on port 443, 80, 88 or 8443. */
  url: string;
  /** A Pulumi secret: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  secretToken: pulumi.Output<string>;
}

/**
 * The address that Telegram delivers a bot's updates to. Depend on what proves that the service answers:
 * from its creation on updates come in.
 */
export class TelegramWebhook extends DynamicResource {
  constructor(name: string, args: TelegramWebhookArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["botToken", "secretToken"] };
    const inputs = { ...args, allowedUpdates: [...TELEGRAM_UPDATES], maxConnections: MAX_CONNECTIONS };
    super("channels:TelegramWebhook", name, inputs, secret);
  }
}
