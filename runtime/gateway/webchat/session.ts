import { randomBytes } from "../../process/random.ts";
import { CHAT_CLOSE, type ToPage } from "../../contract/chat.ts";
import { fromPageSchema, type Hello } from "./from-page.ts";
import { ERRORS } from "../../contract/errors.ts";
import { AGENT } from "../../contract/names.ts";
import type { Sender } from "../channels/channel.ts";
import { isUsable, type PairedDevice } from "../devices/files.ts";
import type { DeviceStore } from "../devices/store.ts";
import type { WebChat } from "./chat.ts";
import { isProven } from "./proof.ts";
import { Rate } from "./rate.ts";

/** As much of a request's id as the operator types. */
const SHORT = 12;

/** The socket under a session. */
export interface Wire {
  send(message: ToPage): void;
  close(code: number, reason: string): void;
}

/** What a session works with. */
export interface SessionOptions {
  wire: Wire;
  devices: DeviceStore;
  chat: WebChat;
  /** Of the page, as its browser tells. */
  origin: string;
  remoteIp: string;
  /** Tells whether one more page of an approved device may be connected. */
  hasRoom(): boolean;
  /** Milliseconds since the epoch. */
  clock(): number;
}

type State =
  | { phase: "new"; nonce: string }
  | { phase: "pairing"; hello: Hello; requestId: string }
  | { phase: "paired"; sender: Sender; leave(): void }
  | { phase: "closed" };

/** One page's connection, from the challenge on. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #rate: Rate;
  #state: State;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#rate = new Rate(options.clock);
    const nonce = randomBytes(32).toString("base64url");
    this.#state = { phase: "new", nonce };
    options.wire.send({ type: "challenge", nonce });
  }

  /** The page has not said who it is. */
  get isNew(): boolean {
    return this.#state.phase === "new";
  }

  /** The page is an approved device's. */
  get isPaired(): boolean {
    return this.#state.phase === "paired";
  }

  /** One message of the page. */
  receive(text: string): void {
    const state = this.#state;
    if (state.phase === "closed") return;
    const message = readMessage(text);
    if (message === undefined) return this.close(CHAT_CLOSE.invalid, "not a message of this form");
    if (state.phase === "new" && message.type === "hello") return this.#greet(message, state.nonce);
    if (state.phase !== "paired" || message.type !== "say")
      return this.close(CHAT_CLOSE.invalid, "not in this order");
    const { id } = message;
    // Read each time, so that a revocation counts at once.
    if (!this.#allowed(state.sender.id)) return;
    if (!this.#rate.take()) {
      const { cause, fix } = ERRORS.chat_too_many;
      const error = { code: "chat_too_many", text: `${cause} ${fix}`, again: true };
      return this.#options.wire.send({ type: "error", id, ...error });
    }
    this.#options.chat.say({ id, text: message.text, sender: state.sender });
  }

  /** Looks whether the operator has decided; called every second. */
  look(paired: ReadonlyMap<string, PairedDevice>): void {
    const state = this.#state;
    if (state.phase === "paired") {
      const device = paired.get(state.sender.id);
      if (device === undefined || !isUsable(device)) this.close(CHAT_CLOSE.revoked, "revoked");
    }
    if (state.phase === "pairing")
      this.#enter(state.hello, paired.get(state.hello.deviceId), state.requestId);
  }

  /** Ends it; the page is told why. */
  close(code: number, reason: string): void {
    if (this.#state.phase === "paired") this.#state.leave();
    this.#state = { phase: "closed" };
    this.#options.wire.close(code, reason);
  }

  #greet(hello: Hello, nonce: string): void {
    const { devices, origin } = this.#options;
    if (!isProven(hello, nonce, origin)) return this.close(CHAT_CLOSE.unproven, "the signature is wrong");
    this.#enter(
      hello,
      devices.paired().find(({ deviceId }) => deviceId === hello.deviceId),
    );
  }

  #enter(hello: Hello, device: PairedDevice | undefined, requestId?: string): void {
    const { wire, devices, chat, hasRoom } = this.#options;
    if (device === undefined) return this.#ask(hello, requestId);
    if (!isUsable(device)) return this.close(CHAT_CLOSE.revoked, "revoked");
    if (!hasRoom()) return this.close(CHAT_CLOSE.full, ERRORS.chat_too_many.cause);
    devices.used(device.deviceId);
    const { deviceId, displayName } = device;
    const sender = { id: deviceId, ...(displayName !== "" && { name: displayName }) };
    const { welcome, leave } = chat.join(deviceId, (message) => wire.send(message));
    this.#state = { phase: "paired", sender, leave };
    wire.send(welcome);
  }

  /** Asks to be let in, again where the request before has grown old or was rejected. */
  #ask(hello: Hello, known: string | undefined): void {
    const { wire, devices, remoteIp } = this.#options;
    if (known !== undefined && devices.pending().some(({ requestId }) => requestId === known)) return;
    // Rejected or too old: the page asks again when its person wants it to.
    if (known !== undefined) return this.close(CHAT_CLOSE.late, "the request was not approved");
    const { deviceId, publicKey, displayName } = hello;
    const device = { deviceId, publicKey, displayName, platform: "web", remoteIp };
    const request = devices.request(device);
    // It was approved at this very moment: the page connects again.
    if (request === undefined) return this.close(CHAT_CLOSE.late, "the request was settled");
    const { requestId } = request;
    this.#state = { phase: "pairing", hello, requestId };
    wire.send({
      type: "pairing",
      requestId,
      command: `${AGENT} devices approve ${requestId.slice(0, SHORT)}`,
    });
  }

  #allowed(id: string): boolean {
    const device = this.#options.devices.paired().find(({ deviceId }) => deviceId === id);
    if (device !== undefined && isUsable(device)) return true;
    this.close(CHAT_CLOSE.revoked, "revoked");
    return false;
  }
}

function readMessage(text: string) {
  try {
    return fromPageSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
