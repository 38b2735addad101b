import type { WebSocket } from "ws";
import type { Delivery } from "../../contract/delivery.ts";
import { AGENT } from "../../contract/names.ts";
import { parseJson } from "../../shared/json.ts";
import type { Log } from "../../shared/log.ts";
import { readInteraction } from "../../edge/admission/discord.ts";
import type { Clock } from "../../edge/ports.ts";
import {
  type ConnectionEnd,
  endOf,
  helloSchema,
  messageDelivery,
  OP,
  type Payload,
  readPayload,
  readySchema,
  type Session,
  type Unmentioned,
} from "./protocol.ts";
import type { SessionRecord } from "./record.ts";

/** Timeout for HELLO, which Discord sends immediately. */
const HELLO_MS = 30_000;

export type Socket = Pick<WebSocket, "on" | "send" | "terminate" | "pause" | "resume">;

export interface ConnectionOptions {
  socket: Socket;
  token: string;
  intents: number;
  unmentioned: Unmentioned;
  /** Session to resume; `undefined` to begin a new one. */
  session: Session | undefined;
  record: Pick<SessionRecord, "began" | "answered">;
  /** Records an event in the ledger; resolves when it is on disk. */
  admit(delivery: Delivery): Promise<unknown>;
  respond(interaction: unknown, response: object): void;
  clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
  log: Log;
}

const UNREADABLE: ConnectionEnd = {
  next: "resume",
  code: "discord_unreachable",
  detail: "Discord sent an unreadable payload.",
};

/**
 * One connection to Discord's gateway (https://docs.discord.com/developers/events/gateway#connection-lifecycle). The
 * sequence number advances only when an event is in the ledger, so Discord replays lost events.
 */
export class DiscordConnection {
  readonly #options: ConnectionOptions;
  #session: Session | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isUnanswered = false;
  #isReady = false;
  #isBroken = false;
  /** Events still to be handled. `#handled` resolves when the queue is empty. */
  readonly #queue: Payload[] = [];
  #handled = Promise.resolve();
  #end: ConnectionEnd | undefined;
  #resolve: (end: ConnectionEnd) => void = () => undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = options.session;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when the connection has ended and all its events are handled. */
  run(): Promise<ConnectionEnd> {
    const { socket } = this.#options;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(
        () => this.#finish({ next: "resume", code: "discord_unreachable", detail: "Discord sent no HELLO." }),
        HELLO_MS,
      );
      let error = "";
      socket.on("message", (data, isBinary) => this.#receive(isBinary ? "" : String(data)));
      socket.on("error", (cause) => (error = cause.message));
      socket.on("close", (code) => {
        const end = endOf(code);
        this.#finish(error === "" ? end : { ...end, detail: `The connection failed: ${error}.` });
      });
    });
  }

  /** Closes the connection. Discord keeps the session for a few minutes, during which it can be resumed. */
  stop(): void {
    this.#finish({
      next: "resume",
      expected: true,
      code: "discord_unreachable",
      detail: "This process closed the connection.",
    });
  }

  #receive(text: string): void {
    if (this.#end !== undefined) return;
    const payload = readPayload(parseJson(text));
    if (payload === undefined) return this.#finish(UNREADABLE);
    switch (payload.op) {
      case OP.hello:
        return this.#beginSession(payload.d);
      case OP.heartbeat:
        return this.#send(OP.heartbeat, this.#session?.sequence ?? null);
      case OP.heartbeatAck:
        return this.#acknowledge();
      case OP.reconnect:
        return this.#finish({
          next: "resume",
          expected: true,
          code: "discord_unreachable",
          detail: "Discord asked for a new connection.",
        });
      case OP.invalidSession:
        return this.#finish({
          next: payload.d === true ? "resume" : "identify",
          code: "discord_unreachable",
          detail: "Discord has ended the session.",
        });
      case OP.dispatch:
        return this.#enqueue(payload);
    }
  }

  /** Schedules the first heartbeat at a random time, as Discord requires, and begins or resumes a session. */
  #beginSession(hello: unknown): void {
    const { data } = helloSchema.safeParse(hello);
    if (data === undefined) return this.#finish(UNREADABLE);
    const { token, intents, random } = this.#options;
    clearTimeout(this.#timer);
    const everyMs = data.heartbeat_interval;
    this.#timer = setTimeout(() => this.#beat(everyMs), everyMs * random());
    if (this.#session !== undefined) {
      const { id, sequence } = this.#session;
      return this.#send(OP.resume, { token, session_id: id, seq: sequence });
    }
    const properties = { os: process.platform, browser: AGENT, device: AGENT };
    this.#send(OP.identify, { token, intents, properties });
  }

  #beat(everyMs: number): void {
    if (this.#isUnanswered) {
      const detail = "Discord did not answer a heartbeat.";
      return this.#finish({ next: "resume", code: "discord_unreachable", detail });
    }
    this.#isUnanswered = true;
    this.#send(OP.heartbeat, this.#session?.sequence ?? null);
    this.#timer = setTimeout(() => this.#beat(everyMs), everyMs);
  }

  #acknowledge(): void {
    this.#isUnanswered = false;
    if (!this.#isReady || this.#session === undefined) return;
    try {
      this.#options.record.answered(this.#session.sequence);
    } catch (error) {
      // Ignore the failure: only the time on the channels page will be outdated.
      this.#options.log.error("the state of the connection could not be stored", { error: String(error) });
    }
  }

  #enqueue(payload: Payload): void {
    this.#queue.push(payload);
    if (this.#queue.length === 1) this.#handled = this.#handleAll();
  }

  async #handleAll(): Promise<void> {
    const { socket } = this.#options;
    socket.pause();
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      try {
        // After a failure to record an event, skip the rest of the queue: Discord replays these events.
        if (!this.#isBroken) await this.#handle(next);
      } catch (error) {
        this.#isBroken = true;
        const detail = `An event could not be recorded: ${String(error)}`;
        this.#finish({ next: "resume", code: "internal", detail });
      }
      this.#queue.shift();
    }
    socket.resume();
  }

  async #handle({ t: kind, s: sequence, d: value }: Payload): Promise<void> {
    const { record, unmentioned, admit, respond, clock, log } = this.#options;
    if (kind === "READY") {
      const { session_id: id, resume_gateway_url: url, user } = readySchema.parse(value);
      this.#session = { id, url, user: user.id, sequence: sequence ?? 0 };
      record.began(this.#session);
      this.#isReady = true;
      log.info("connected to Discord");
      return;
    }
    if (this.#session === undefined) return;
    const place = sequence ?? this.#session.sequence;
    const { user } = this.#session;
    // Discord sends interactions on this connection only if the application has no endpoint for them.
    const taken = kind === "INTERACTION_CREATE" ? readInteraction(value, clock()) : undefined;
    const delivery =
      kind === "MESSAGE_CREATE" ? messageDelivery(value, { user, unmentioned }, clock()) : taken?.delivery;
    if (delivery !== undefined) await admit(delivery);
    if (taken !== undefined) respond(value, taken.response);
    this.#session = { ...this.#session, sequence: place };
    if (kind === "RESUMED") {
      this.#isReady = true;
      log.info("the session with Discord is resumed");
    }
    // Store the sequence number immediately only for deliveries and `RESUMED`. Other events' numbers can wait until
    // after the next heartbeat, because handling those events twice is harmless.
    if (kind === "RESUMED" || delivery !== undefined) record.answered(place);
  }

  #send(op: number, d: unknown): void {
    this.#options.socket.send(JSON.stringify({ op, d }), () => undefined);
  }

  #finish(end: ConnectionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearTimeout(this.#timer);
    this.#options.socket.terminate();
    void this.#settle();
  }

  async #settle(): Promise<void> {
    await this.#handled;
    if (this.#end !== undefined) this.#resolve(this.#end);
  }
}
