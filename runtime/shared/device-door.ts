import * as z from "zod/mini";
import { CHAT_CLOSE, type FromPage, proofText, type ToPage } from "../contract/chat.ts";
import { base64url, fromBase64url, hex } from "../contract/digest.ts";
import { AGENT } from "../contract/names.ts";
import { type AdmittedDevice, type DeviceEntry, type NewDevice, SHORT_ID } from "./devices.ts";
import { parseJson } from "./json.ts";
import { once } from "./once.ts";

type Hello = Extract<FromPage, { type: "hello" }>;

/** Schema of a page's first message. Keys and signatures are base64url without padding. */
export const helloForm = once(() =>
  z.strictObject({
    type: z.literal("hello"),
    /** SHA-256 of the raw public key, in hex. */
    deviceId: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    /** The raw Ed25519 key, 32 bytes. */
    publicKey: z.string().check(z.regex(/^[\w-]{43}$/)),
    displayName: z.string().check(z.maxLength(80)),
    signature: z.string().check(z.regex(/^[\w-]{86}$/)),
  }),
);

export interface Wire {
  send(message: ToPage): void;
  close(code: number, reason: string): void;
}

export interface DeviceDoorOptions {
  wire: Wire;
  /** As reported by the browser. */
  origin: string;
  remoteIp: string;
  /** See `Devices.enter`. */
  enter(device: NewDevice, known?: string): Promise<DeviceEntry>;
  /** Called when the device is admitted. The door handles no messages after that. */
  onPaired(device: AdmittedDevice): void;
}

type State =
  | { phase: "new"; nonce: string }
  /** The signature is being verified, or the device is being looked up. */
  | { phase: "asking" }
  | { phase: "waiting"; device: NewDevice; requestId: string }
  | { phase: "done" };

/**
 * First phase of a page's connection: from the challenge until the page's device is admitted. See contract/chat.ts
 * for the protocol.
 */
export class DeviceDoor {
  readonly #options: DeviceDoorOptions;
  #state: State;

  constructor(options: DeviceDoorOptions) {
    this.#options = options;
    const nonce = base64url(crypto.getRandomValues(new Uint8Array(32)));
    this.#state = { phase: "new", nonce };
    options.wire.send({ type: "challenge", nonce });
  }

  /** True until the page has sent its first message. */
  get isNew(): boolean {
    return this.#state.phase === "new";
  }

  /** False once the device is admitted or the connection is closed. */
  get isOpen(): boolean {
    return this.#state.phase !== "done";
  }

  /** Handles one message from the page. Never rejects. */
  async receive(text: string): Promise<void> {
    const state = this.#state;
    if (state.phase === "done") return;
    const hello = helloForm().safeParse(parseJson(text)).data;
    if (hello === undefined) return this.close(CHAT_CLOSE.invalid, "not a message of this form");
    if (state.phase !== "new") return this.close(CHAT_CLOSE.invalid, "not in this order");
    this.#state = { phase: "asking" };
    const { origin, remoteIp } = this.#options;
    if (!(await isProven(hello, { nonce: state.nonce, origin })))
      return this.close(CHAT_CLOSE.unproven, "the signature is wrong");
    const { deviceId, publicKey, displayName } = hello;
    await this.#ask({ deviceId, publicKey, displayName, platform: "web", remoteIp });
  }

  /**
   * Checks whether the pending request has been approved or denied, or has expired. Call this method every few
   * seconds. Never rejects.
   */
  async look(): Promise<void> {
    const state = this.#state;
    if (state.phase === "waiting") await this.#ask(state.device, state.requestId);
  }

  close(code: number, reason: string): void {
    if (this.#state.phase === "done") return;
    this.#state = { phase: "done" };
    this.#options.wire.close(code, reason);
  }

  async #ask(device: NewDevice, known?: string): Promise<void> {
    const { wire, enter, onPaired } = this.#options;
    const asked: State = { phase: "asking" };
    this.#state = asked;
    const entry = await enter(device, known).catch(() => undefined);
    if (this.#state !== asked) return;
    // This close code makes the page reconnect.
    if (entry === undefined) return this.close(CHAT_CLOSE.restart, "nobody can decide");
    switch (entry.kind) {
      case "paired":
        this.#state = { phase: "done" };
        return onPaired(entry.device);
      case "revoked":
        return this.close(CHAT_CLOSE.revoked, "revoked");
      // This close code makes the page ask its user before it sends a new request.
      case "late":
        return this.close(CHAT_CLOSE.late, "the request was not approved");
      case "asks": {
        const { requestId } = entry;
        this.#state = { phase: "waiting", device, requestId };
        const command = `${AGENT} devices approve ${requestId.slice(0, SHORT_ID)}`;
        if (requestId !== known) wire.send({ type: "pairing", requestId, command });
      }
    }
  }
}

/** Returns true if the page signed this connection's nonce with the key of the device that the page names. */
async function isProven(
  { deviceId, publicKey, signature }: Hello,
  { nonce, origin }: { nonce: string; origin: string },
): Promise<boolean> {
  try {
    const raw = fromBase64url(publicKey);
    if (hex(await crypto.subtle.digest("SHA-256", raw)) !== deviceId) return false;
    const key = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
    const text = new TextEncoder().encode(proofText({ nonce, deviceId, origin }));
    return await crypto.subtle.verify({ name: "Ed25519" }, key, fromBase64url(signature), text);
  } catch {
    // `importKey` rejects a public key that is not a point on the curve.
    return false;
  }
}
