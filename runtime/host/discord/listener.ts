import type { Delivery } from "../../contract/delivery.ts";
import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Clock } from "../../edge/ports.ts";
import type { Source } from "../intake/watch.ts";
import { DiscordConnection, type Socket } from "./connection.ts";
import type { ConnectionEnd, Unmentioned } from "./protocol.ts";
import type { SessionRecord } from "./record.ts";

const RENEW_MS = 20_000;
const LEASE_WAIT_MS = 5_000;
/** Backoff with jitter before reconnecting. */
const RECONNECT_WAIT = { firstMs: 1_000, longestMs: 60_000 };
/** Backoff before a new session; Discord allows 1,000 per day. */
const IDENTIFY_WAIT = { firstMs: 5_000, longestMs: 300_000 };
/**
 * Minimum duration of a connection, in milliseconds. A shorter one counts as a failure, so that short sessions do not
 * use up the daily limit.
 */
const STABLE_MS = 60_000;
/**
 * Number of failures after which the listener asks for a new address, because the session's address may be outdated.
 */
const ADDRESS_TRIES = 3;

export type Address = { url: string } | ConnectionEnd;

export interface ListenerOptions {
  token: string;
  intents: number;
  unmentioned: Unmentioned;
  record: SessionRecord;
  /** Asks Discord for its gateway's address. `begins` is true for a new session. */
  address(begins: boolean, signal: AbortSignal): Promise<Address>;
  /**
   * Adds the API version and the encoding to a gateway address. Returns `undefined` for an address that must not
   * receive the bot token.
   */
  check(url: string): string | undefined;
  open(url: string): Promise<Socket>;
  admit(delivery: Delivery): Promise<unknown>;
  respond(interaction: unknown, response: object): void;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  clock: Clock;
  random(): number;
  log: Log;
}

/**
 * Keeps one connection to Discord's gateway open while this process holds the lease. Resumes the session, or begins a
 * new one if Discord has ended it. Stops if Discord says not to reconnect.
 */
export class GatewayListener implements Source {
  readonly #options: ListenerOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #connection: DiscordConnection | undefined;
  #failures = 0;
  #logged: string | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Closes the connection and releases the lease. The next process can resume the session. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#connection?.stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { record } = this.#options;
    const { signal } = this.#stop;
    const renewal = setInterval(() => this.#attempt(() => this.#renew()), RENEW_MS);
    while (!signal.aborted) {
      try {
        if (record.take("connection")) await this.#handleEnd(await this.#connect());
        else {
          this.#logOnce("another process of this data directory is connected");
          await this.#options.sleep(LEASE_WAIT_MS, signal);
        }
      } catch (error) {
        const detail = `A connection could not be opened: ${String(error)}`;
        if (!signal.aborted) await this.#handleEnd({ next: "resume", code: "internal", detail });
      }
    }
    clearInterval(renewal);
    this.#attempt(() => record.release());
  }

  #renew(): void {
    if (!this.#options.record.take("connection")) this.#connection?.stop();
  }

  async #connect(): Promise<ConnectionEnd> {
    const { record, address, check, open, clock } = this.#options;
    const session = record.session();
    const known = session && this.#failures < ADDRESS_TRIES ? check(session.url) : undefined;
    const found =
      known === undefined ? await address(session === undefined, this.#stop.signal) : { url: known };
    if (!("url" in found)) return found;
    const openedAt = clock();
    const socket = await open(found.url);
    this.#connection = new DiscordConnection({ ...this.#options, socket, session });
    if (this.#stop.signal.aborted) this.#connection.stop();
    const end = await this.#connection.run();
    if (this.#connection.isReady) this.#logged = undefined;
    if (this.#connection.isReady && clock() - openedAt >= STABLE_MS) this.#failures = 0;
    this.#connection = undefined;
    if (end.next === "identify") record.forget();
    return end;
  }

  async #handleEnd({ next, expected = false, code, detail, afterMs = 0 }: ConnectionEnd): Promise<void> {
    const { record, sleep, random } = this.#options;
    if (this.#stop.signal.aborted) return;
    this.#failures += 1;
    const isFinal = next === "stop";
    // Discord sometimes closes connections. Report this only if reconnecting fails.
    if (isFinal || (!expected && (this.#failures > 1 || code !== "discord_unreachable"))) {
      this.#attempt(() => record.failed(code, detail));
      this.#logOnce(detail, code);
    }
    if (isFinal) return aborted(this.#stop.signal);
    const range = next === "identify" ? IDENTIFY_WAIT : RECONNECT_WAIT;
    await sleep(Math.max(afterMs, backoffMs(range, this.#failures, random())), this.#stop.signal);
  }

  #logOnce(why: string, code?: string): void {
    if (this.#logged === why) return;
    this.#logged = why;
    this.#options.log.warn("not receiving messages from Discord", { why, ...(code && { code }) });
  }

  /** Runs `work`. Logs its error, such as a full store, instead of throwing it. */
  #attempt(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      this.#options.log.error("the state of the connection cannot be written", { error: String(error) });
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
