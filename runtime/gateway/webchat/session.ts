import type { Sender } from "../../contract/message.ts";
import { parseJson } from "../../shared/json.ts";
import * as z from "zod/mini";
import {
  CHAT_CLOSE,
  CHAT_MESSAGE_BYTES,
  CHAT_PICTURES,
  type FromPage,
  proofText,
  type ToPage,
} from "../../contract/chat.ts";
import { ERRORS, fixOf } from "../../contract/errors.ts";
import { AGENT } from "../../contract/names.ts";
import { randomBytes } from "../../process/random.ts";
import { type DeviceStore, grantedTo, isUsable, type PairedDevice } from "../devices.ts";
import type { WebChat } from "./chat.ts";
import { IncomingPictures } from "./pictures.ts";

/** The page's id of a message. */
const messageId = z.string().check(z.regex(/^[\w-]{8,64}$/));

/** Schema of messages from the page. Keys and signatures are base64url without padding. */
const fromPageSchema: z.ZodMiniType<FromPage> = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("hello"),
    /** SHA-256 of the raw public key, in hex. */
    deviceId: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    /** The raw Ed25519 key, 32 bytes. */
    publicKey: z.string().check(z.regex(/^[\w-]{43}$/)),
    displayName: z.string().check(z.maxLength(80)),
    signature: z.string().check(z.regex(/^[\w-]{86}$/)),
  }),
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

/** Prefix of an Ed25519 key in SubjectPublicKeyInfo, before the key itself (RFC 8410 section 10.1). */
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** Number of leading characters of a request id that the operator has to type. */
const SHORT = 12;

/** The socket of a session. */
interface Wire {
  send(message: ToPage): void;
  close(code: number, reason: string): void;
}

/** Dependencies of a session. */
interface SessionOptions {
  wire: Wire;
  devices: DeviceStore;
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
  | { phase: "new"; nonce: string }
  | { phase: "pairing"; hello: Hello; requestId: string }
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
    const nonce = randomBytes(32).toString("base64url");
    this.#state = { phase: "new", nonce };
    options.wire.send({ type: "challenge", nonce });
  }

  /** True until the page has named its device. */
  get isNew(): boolean {
    return this.#state.phase === "new";
  }

  /** True if the page belongs to an approved device. */
  get isPaired(): boolean {
    return this.#state.phase === "paired";
  }

  /** Handles one message from the page. */
  receive(text: string): void {
    const state = this.#state;
    if (state.phase === "closed") return;
    const message = readMessage(text);
    if (message === undefined) return this.close(CHAT_CLOSE.invalid, "not a message of this form");
    if (state.phase === "new" && message.type === "hello") return this.#greet(message, state.nonce);
    if (state.phase !== "paired" || message.type === "hello")
      return this.close(CHAT_CLOSE.invalid, "not in this order");
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
    const device = this.#usable(state.sender.id);
    if (device === undefined) return;
    if (!this.#rate.take()) {
      const code = "chat_too_many";
      const error = { code, text: `${ERRORS[code].cause} ${fixOf(code)}`, again: true };
      return this.#options.wire.send({ type: "error", id, ...error });
    }
    const from = { id, sender: state.sender, grants: grantedTo(device) };
    const { chat } = this.#options;
    if (message.type === "press") chat.press({ ...from, press: message.press });
    else chat.say({ ...from, text: message.text, pictures });
  }

  /** Checks if the operator has approved, rejected or revoked the device; called every second. */
  look(paired: ReadonlyMap<string, PairedDevice>): void {
    const state = this.#state;
    if (state.phase === "paired") {
      const device = paired.get(state.sender.id);
      if (device === undefined || !isUsable(device)) this.close(CHAT_CLOSE.revoked, "revoked");
    }
    if (state.phase === "pairing")
      this.#enter(state.hello, paired.get(state.hello.deviceId), state.requestId);
  }

  /** Closes the connection and tells the page why. */
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

  /**
   * Requests approval of a device. Waits while an earlier request is pending; closes the connection if that request has
   * expired or was rejected.
   */
  #ask(hello: Hello, known: string | undefined): void {
    const { wire, devices, remoteIp } = this.#options;
    if (known !== undefined && devices.pending().some(({ requestId }) => requestId === known)) return;
    // The request was rejected or expired. The page makes a new one only if its user asks for it.
    if (known !== undefined) return this.close(CHAT_CLOSE.late, "the request was not approved");
    const { deviceId, publicKey, displayName } = hello;
    const device = { deviceId, publicKey, displayName, platform: "web", remoteIp };
    const request = devices.request(device);
    // The device was just approved: the page reconnects.
    if (request === undefined) return this.close(CHAT_CLOSE.late, "the request was settled");
    const { requestId } = request;
    this.#state = { phase: "pairing", hello, requestId };
    wire.send({
      type: "pairing",
      requestId,
      command: `${AGENT} devices approve ${requestId.slice(0, SHORT)}`,
    });
  }

  #usable(id: string): PairedDevice | undefined {
    const device = this.#options.devices.paired().find(({ deviceId }) => deviceId === id);
    if (device !== undefined && isUsable(device)) return device;
    this.close(CHAT_CLOSE.revoked, "revoked");
    return undefined;
  }
}

function readMessage(text: string) {
  return fromPageSchema.safeParse(parseJson(text)).data;
}

/** Returns true if the page has signed this connection's nonce with the key of the device it claims. */
function isProven(hello: Hello, nonce: string, origin: string): boolean {
  // Loaded with the first page, to keep the start fast.
  const { createHash, createPublicKey, verify } = process.getBuiltinModule("node:crypto");
  const { deviceId, publicKey, signature } = hello;
  const raw = Buffer.from(publicKey, "base64url");
  if (createHash("sha256").update(raw).digest("hex") !== deviceId) return false;
  const text = Buffer.from(proofText({ nonce, deviceId, origin }));
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: "der", type: "spki" });
    return verify(null, text, key, Buffer.from(signature, "base64url"));
  } catch {
    // The key is not a point on the curve.
    return false;
  }
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

/** The first message of a page. */
type Hello = Extract<FromPage, { type: "hello" }>;
