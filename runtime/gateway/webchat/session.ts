import type { Sender } from "../../contract/message.ts";
import { parseJson } from "../../shared/json.ts";
import * as z from "zod/mini";
import {
  type AdmittedBrowser,
  CHAT_CLOSE,
  CHAT_MESSAGE_BYTES,
  CHAT_PICTURES,
  type FromPage,
} from "../../contract/chat.ts";
import type { GrantedRole } from "../../contract/config/rights.ts";
import { ERRORS, fixOf } from "../../contract/errors.ts";
import { DeviceDoor, type Wire } from "../../shared/device-door.ts";
import { type Devices, grantedTo, isUsable, type PairedDevice } from "../../shared/devices.ts";
import type { WebChat } from "./chat.ts";
import { IncomingPictures } from "./pictures.ts";

/** The page's id of a message. */
const messageId = z.string().check(z.regex(/^[\w-]{8,64}$/));

/** Schema of messages from the page. */
const fromPageSchema: z.ZodMiniType<Exclude<FromPage, { type: "hello" }>> = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("picture"),
    id: messageId,
    part: z.string().check(z.regex(/^[A-Za-z0-9+/=]*$/), z.maxLength(CHAT_PICTURES.piece)),
    ends: z.optional(z.boolean()),
  }),
  z.strictObject({
    type: z.literal("say"),
    id: messageId,
    text: z.string().check(z.maxLength(CHAT_MESSAGE_BYTES)),
  }),
  z.strictObject({
    type: z.literal("press"),
    id: messageId,
    press: z.string().check(z.regex(/^[\w-]{1,64}$/)),
  }),
]);

/**
 * Number of messages that a page may send in a burst, and the interval until one more is allowed: faster than anybody
 * types.
 */
const BURST = 20;
const REFILL_MS = 1_000;

/** Dependencies of a session. */
interface SessionOptions {
  wire: Wire;
  devices: Devices;
  /** Absent if the device is to be let in here. */
  admitted?: AdmittedBrowser | undefined;
  chat: WebChat;
  /** Origin of the page, as reported by its browser. */
  origin: string;
  remoteIp: string;
  /** Returns true if another page of an approved device may connect. */
  hasRoom(): boolean;
  /** Milliseconds since the epoch. */
  clock(): number;
}

type State =
  | { phase: "door"; door: DeviceDoor }
  | { phase: "paired"; sender: Sender; leave(): void }
  | { phase: "closed" };

/** One page's connection, starting with the challenge. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #rate: Rate;
  readonly #pictures = new IncomingPictures();
  #state: State;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#rate = new Rate(options.clock);
    const { admitted, wire, devices, origin, remoteIp } = options;
    this.#state = { phase: "closed" };
    if (admitted !== undefined) {
      this.#enter(admitted);
      return;
    }
    const door = new DeviceDoor({
      wire,
      origin,
      remoteIp,
      enter: async (...asked) => devices.enter(...asked),
      onPaired: (device) => this.#enter(device),
    });
    this.#state = { phase: "door", door };
  }

  /** True until the page has named its device. */
  get isNew(): boolean {
    return this.#state.phase === "door" && this.#state.door.isNew;
  }

  /** True if the page belongs to an approved device. */
  get isPaired(): boolean {
    return this.#state.phase === "paired";
  }

  /** Handles one message from the page. */
  receive(text: string): void {
    const state = this.#state;
    if (state.phase === "closed") return;
    if (state.phase === "door") return void state.door.receive(text);
    const message = readMessage(text);
    if (message === undefined) return this.close(CHAT_CLOSE.invalid, "not a message of this form");
    if (message.type === "picture") {
      if (!this.#pictures.add(message))
        this.close(CHAT_CLOSE.invalid, "more pictures than a message may have");
      return;
    }
    const { id } = message;
    const pictures = this.#pictures.take(id);
    if (message.type === "say" && message.text === "" && pictures.length === 0)
      return this.close(CHAT_CLOSE.invalid, "nothing is said");
    // Check the approval for every message, so that a revocation takes effect at once.
    const grants = this.#grantsOf(state.sender.id);
    if (grants === undefined) return this.close(CHAT_CLOSE.revoked, "revoked");
    if (!this.#rate.take()) {
      const code = "chat_too_many";
      const error = { code, text: `${ERRORS[code].cause} ${fixOf(code)}`, again: true };
      return this.#options.wire.send({ type: "error", id, ...error });
    }
    const from = { id, sender: state.sender, grants };
    const { chat } = this.#options;
    if (message.type === "press") chat.press({ ...from, press: message.press });
    else chat.say({ ...from, text: message.text, pictures });
  }

  /** Checks if the operator has approved, rejected or revoked the device; called every second. */
  look(paired: ReadonlyMap<string, PairedDevice>): void {
    const state = this.#state;
    if (state.phase === "door") void state.door.look();
    if (state.phase !== "paired" || this.#options.admitted !== undefined) return;
    const device = paired.get(state.sender.id);
    if (device === undefined || !isUsable(device)) this.close(CHAT_CLOSE.revoked, "revoked");
  }

  /** Closes the connection and tells the page why. */
  close(code: number, reason: string): void {
    const state = this.#state;
    this.#state = { phase: "closed" };
    if (state.phase === "door") return state.door.close(code, reason);
    if (state.phase === "paired") state.leave();
    this.#options.wire.close(code, reason);
  }

  #enter({ deviceId, displayName }: Pick<PairedDevice, "deviceId" | "displayName">): void {
    const { admitted, wire, devices, chat, hasRoom } = this.#options;
    if (!hasRoom()) {
      this.#state = { phase: "closed" };
      return wire.close(CHAT_CLOSE.full, ERRORS.chat_too_many.cause);
    }
    if (admitted === undefined) devices.used(deviceId);
    const sender = { id: deviceId, ...(displayName !== "" && { name: displayName }) };
    const { welcome, leave } = chat.join(deviceId, (message) => wire.send(message));
    this.#state = { phase: "paired", sender, leave };
    wire.send(welcome);
  }

  /** Returns a device's present role; `undefined` for one that was revoked. */
  #grantsOf(id: string): GrantedRole | undefined {
    const { admitted, devices } = this.#options;
    if (admitted !== undefined) return admitted.role;
    const device = devices.paired().find(({ deviceId }) => deviceId === id);
    return device !== undefined && isUsable(device) ? grantedTo(device) : undefined;
  }
}

function readMessage(text: string) {
  return fromPageSchema.safeParse(parseJson(text)).data;
}

/** Rate limit of a socket. */
class Rate {
  readonly #clock: () => number;
  #left = BURST;
  #at: number;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#at = clock();
  }

  /** Returns true if one more message is allowed now, and counts it. */
  take(): boolean {
    const now = this.#clock();
    this.#left = Math.min(BURST, this.#left + Math.max(0, now - this.#at) / REFILL_MS);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
