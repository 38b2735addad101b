import { backoffMs } from "../../shared/backoff.ts";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod/mini";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { TELEGRAM_UPDATES } from "../../contract/telegram.ts";
import { TelegramError, type TelegramApi } from "../../process/telegram/api.ts";
import type { IntakeRecord } from "./record.ts";

const RETRY = { firstMs: 4_000, longestMs: 300_000 };
const RENEW_MS = 20_000;

/** https://core.telegram.org/bots/api#webhookinfo */
const webhookInfo = z.object({
  url: z.string(),
  pending_update_count: z.number(),
  last_error_message: z.optional(z.string()),
});

export interface WebhookRegistrationOptions {
  api: Pick<TelegramApi, "call">;
  record: IntakeRecord;
  url: string;
  secret: string;
  /** Secret that the edge expects with each update. Registration fails if `secret` differs from it. */
  checkedSecret: string | undefined;
  log: Log;
}

/**
 * Registers the webhook with Telegram once (https://core.telegram.org/bots/api#setwebhook), then checks regularly that
 * updates arrive.
 */
export class WebhookRegistration {
  readonly #options: WebhookRegistrationOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #told: string | undefined;

  constructor(options: WebhookRegistrationOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops checking the webhook. The webhook stays registered, so that Telegram queues updates. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { record, log } = this.#options;
    const { signal } = this.#stop;
    let wait = RENEW_MS;
    let failures = 0;
    let isSet = false;
    while (!signal.aborted) {
      try {
        if (record.take("webhook")) {
          if (!isSet) {
            await this.#set();
            isSet = true;
            log.info("Telegram delivers to the webhook");
          }
          await this.#check();
          record.answered();
        }
        this.#told = undefined;
        wait = RENEW_MS;
      } catch (error) {
        if (signal.aborted) break;
        this.#failed(error);
        failures += 1;
        wait = isSet ? RENEW_MS : backoffMs(RETRY, failures);
      }
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
    try {
      record.release();
    } catch (error) {
      log.error("the state of the webhook cannot be written", { error: String(error) });
    }
  }

  async #set(): Promise<void> {
    const { api, url, secret, checkedSecret } = this.#options;
    if (secret !== checkedSecret) {
      throw new TelegramError(
        400,
        "webhookSecret differs from TELEGRAM_WEBHOOK_SECRET, which is checked here",
      );
    }
    const parameters = { url, secret_token: secret, allowed_updates: TELEGRAM_UPDATES };
    await api.call("setWebhook", parameters, { signal: this.#stop.signal });
  }

  /** Throws if updates do not arrive, or if somebody has set another webhook, which stays in place. */
  async #check(): Promise<void> {
    const { api, url } = this.#options;
    const answer = await api.call("getWebhookInfo", {}, { signal: this.#stop.signal });
    const info = webhookInfo.parse(answer);
    if (info.url !== url) {
      throw new TelegramError(409, "the webhook was set to another address, or deleted, by somebody else");
    }
    if (info.pending_update_count > 0 && info.last_error_message !== undefined) {
      throw new TelegramError(400, `Telegram cannot deliver: ${info.last_error_message}`);
    }
  }

  #failed(error: unknown): void {
    const { record, log } = this.#options;
    const detail = error instanceof Error ? error.message : "unknown error";
    const code = failureCode(error);
    if (this.#told !== detail) log.warn("not receiving updates from Telegram", { code, why: detail });
    this.#told = detail;
    try {
      record.failed(code, `${detail}.`);
    } catch (cause) {
      log.error("the state of the webhook cannot be written", { error: String(cause) });
    }
  }
}

function failureCode(error: unknown): ErrorCode {
  if (!(error instanceof TelegramError)) return "internal";
  if (error.tokenRefused) return "telegram_token_invalid";
  if (error.status === 409) return "telegram_conflict";
  return error.status === 400 ? "telegram_webhook_failed" : "telegram_unreachable";
}
