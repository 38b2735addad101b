import { backoffMs, type BackoffRange } from "../../shared/backoff.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "../../contract/delivery.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { TELEGRAM_UPDATES } from "../../contract/telegram.ts";
import { telegramDelivery } from "../../edge/admission/telegram.ts";
import type { Clock } from "../../edge/ports.ts";
import { TelegramError, type TelegramApi } from "../../process/telegram/api.ts";
import type { IntakeRecord } from "./record.ts";

/** Seconds for which Telegram holds a poll open if no update arrives. */
const POLL_SECONDS = 50;
const POLL_TIMEOUT_MS = 65_000;
const RENEW_MS = 20_000;
const NETWORK_WAIT = { firstMs: 1_000, longestMs: 60_000 };
const CONFLICT_WAIT = { firstMs: 5_000, longestMs: 60_000 };
/** Backoff after Telegram has refused the token. The delays are long, because a poller's token never changes. */
const TOKEN_WAIT = { firstMs: 60_000, longestMs: 300_000 };
const LEASE_WAIT_MS = 5_000;

export interface PollerOptions {
  api: Pick<TelegramApi, "call">;
  record: IntakeRecord;
  /** Records an update in the ledger; resolves when it is on disk. */
  admit(delivery: Delivery): Promise<unknown>;
  clock: Clock;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  log: Log;
}

/**
 * Polls Telegram (https://core.telegram.org/bots/api#getupdates) and records updates in the ledger. A poll's offset
 * confirms earlier updates, so it advances only after they are recorded.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #failures = 0;
  #told: string | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Aborts the open request and releases the lease. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { record, log } = this.#options;
    const { signal } = this.#stop;
    let prepared = false;
    // Renew on a timer, because a poll takes nearly as long as the lease lasts.
    const renewal = setInterval(() => prepared && this.#attempt(() => record.take("poll")), RENEW_MS);
    while (!signal.aborted) {
      try {
        if (!record.take("poll")) {
          this.#tell("another process of this data directory polls");
          prepared = false;
          await this.#wait(LEASE_WAIT_MS);
          continue;
        }
        if (!prepared) {
          await this.#prepare();
          prepared = true;
          log.info("polling Telegram");
        }
        await this.#poll();
        if (this.#failures > 0) log.info("polling Telegram again");
        this.#failures = 0;
        this.#told = undefined;
      } catch (error) {
        if (!signal.aborted) await this.#fail(error);
      }
    }
    clearInterval(renewal);
    this.#attempt(() => record.release());
  }

  /** Deletes an earlier webhook, because the config asks for polling. Telegram keeps pending updates. */
  async #prepare(): Promise<void> {
    await this.#call("deleteWebhook", { drop_pending_updates: false });
  }

  async #poll(): Promise<void> {
    const { record, admit, clock, log } = this.#options;
    const offset = record.offset();
    const updates = await this.#call(
      "getUpdates",
      { ...(offset !== undefined && { offset }), timeout: POLL_SECONDS, allowed_updates: TELEGRAM_UPDATES },
      POLL_TIMEOUT_MS,
    );
    if (!Array.isArray(updates)) throw new TelegramError(0, "the answer is not a list of updates");
    let next = offset;
    for (const update of updates as unknown[]) {
      const delivery = telegramDelivery(update, clock());
      if (delivery === undefined) {
        log.error("Telegram sent an invalid update");
        continue;
      }
      await admit(delivery);
      next = Math.max(next ?? 0, Number(delivery.id) + 1);
    }
    // Fail, so that the poller backs off: without a new offset, Telegram would immediately send the same updates
    // again.
    if (updates.length > 0 && next === offset) {
      throw new TelegramError(0, "the answer contains no readable update");
    }
    record.answered(updates.length > 0 ? next : undefined);
  }

  #call(method: string, parameters: object, timeoutMs?: number): Promise<unknown> {
    const bounds = { signal: this.#stop.signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    return this.#options.api.call(method, parameters, bounds);
  }

  async #fail(error: unknown): Promise<void> {
    const { record, random } = this.#options;
    this.#failures += 1;
    const { code, detail, range, afterMs = 0 } = readFailure(error);
    if (code !== undefined) this.#attempt(() => record.failed(code, detail));
    this.#tell(detail, code);
    await this.#wait(Math.max(afterMs, backoffMs(range, this.#failures, random())));
  }

  #tell(why: string, code?: ErrorCode): void {
    if (this.#told === why) return;
    this.#told = why;
    this.#options.log.warn("not receiving updates from Telegram", { why, ...(code && { code }) });
  }

  async #wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** Runs `work`. Logs an error, such as one caused by a full store, instead of throwing it. */
  #attempt(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      this.#options.log.error("the state of polling cannot be written", { error: String(error) });
    }
  }
}

interface Failure {
  code?: ErrorCode;
  detail: string;
  range: BackoffRange;
  /** Delay in milliseconds that Telegram asks for. */
  afterMs?: number;
}

function readFailure(error: unknown): Failure {
  if (!(error instanceof TelegramError)) {
    return {
      code: "internal",
      detail: `An update could not be recorded: ${String(error)}`,
      range: NETWORK_WAIT,
    };
  }
  const { status, message, tokenRefused, retryAfterMs } = error;
  if (tokenRefused) {
    const detail = `Telegram refuses the bot token: ${message}.`;
    return { code: "telegram_token_invalid", detail, range: TOKEN_WAIT };
  }
  // Telegram's message names the cause: another poller, or a webhook that somebody has set.
  if (status === 409) return { code: "telegram_conflict", detail: `${message}.`, range: CONFLICT_WAIT };
  const detail = `Telegram did not answer: ${message}.`;
  return {
    code: "telegram_unreachable",
    detail,
    range: NETWORK_WAIT,
    ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }),
  };
}
