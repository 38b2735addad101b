import type { Sender } from "../../contract/message.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import * as z from "zod/mini";
import {
  type AdmittedBrowser,
  CHAT_CLOSE,
  CHAT_FILES,
  CHAT_MESSAGE_BYTES,
  CHAT_TITLE,
  type ToPage,
} from "../../contract/chat.ts";
import type { GrantedRole } from "../../contract/config/rights.ts";
import { ERRORS, fixOf } from "../../contract/errors.ts";
import { DeviceDoor, type Wire } from "../../shared/device-door.ts";
import { type Devices, grantedTo, isUsable, type PairedDevice } from "../../shared/devices.ts";
import type { WebChat } from "./chat.ts";
import { IncomingFiles } from "./files.ts";

const messageId = z.string().check(z.regex(/^[\w-]{8,64}$/));
/** Empty for the first conversation. */
const conversation = z._default(z.string().check(z.regex(/^(?:[\w-]{8,64})?$/)), "");

const piece = {
  id: messageId,
  part: z.string().check(z.regex(/^[A-Za-z0-9+/=]*$/), z.maxLength(CHAT_FILES.piece)),
  ends: z.optional(z.boolean()),
};

/** Messages from the page. Unknown fields of later versions are ignored. */
const fromPageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("picture"), ...piece }),
  z.object({
    type: z.literal("file"),
    ...piece,
    name: z.optional(z.string().check(z.maxLength(255))),
    mediaType: z.optional(z.string().check(z.maxLength(255))),
  }),
  z.object({
    type: z.literal("say"),
    id: messageId,
    text: z.string().check(z.maxLength(CHAT_MESSAGE_BYTES)),
    conversation,
    instead: z.optional(messageId),
  }),
  z.object({
    type: z.literal("press"),
    id: messageId,
    press: z.string().check(z.regex(/^[\w-]{1,64}$/)),
    conversation,
  }),
  z.object({ type: z.literal("stop"), id: messageId, conversation }),
  z.object({ type: z.literal("open"), conversation }),
  z.object({ type: z.literal("rename"), conversation, title: z.string().check(z.maxLength(CHAT_TITLE)) }),
  z.object({ type: z.literal("delete"), conversation }),
  z.object({ type: z.literal("find"), id: messageId, query: z.string().check(z.maxLength(CHAT_TITLE)) }),
]);
const TYPES: ReadonlySet<unknown> = new Set(
  "picture file say press stop open rename delete find hello".split(" "),
);

/** Maximum number of messages that a page may send at once. */
const BURST = 20;
/** Milliseconds until one more message is allowed. */
const REFILL_MS = 1_000;

interface SessionOptions {
  wire: Wire;
  devices: Devices;
  /** Browser that the edge has admitted. Absent if this gateway admits devices itself. */
  admitted?: AdmittedBrowser | undefined;
  chat: WebChat;
  /** Page origin as reported by the browser. */
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
  readonly #files = new IncomingFiles();
  /** The page's current conversation. */
  #conversation = "";
  /** True if the page supports several conversations. */
  #knowsOthers = false;
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

  /** True until the page has sent its first message. */
  get isNew(): boolean {
    return this.#state.phase === "door" && this.#state.door.isNew;
  }

  get isPaired(): boolean {
    return this.#state.phase === "paired";
  }

  receive(text: string): void {
    const state = this.#state;
    if (state.phase === "closed") return;
    if (state.phase === "door") return void state.door.receive(text);
    const document = parseJson(text);
    // Ignore message types of later versions.
    if (isRecord(document) && typeof document["type"] === "string" && !TYPES.has(document["type"])) return;
    const { data: message } = fromPageSchema.safeParse(document);
    if (message === undefined) return this.close(CHAT_CLOSE.invalid, "invalid message");
    if (message.type === "file" || message.type === "picture") {
      if (!this.#files.add(message)) this.close(CHAT_CLOSE.invalid, "too many files for one message");
      return;
    }
    // Check the device on every message, so that a revocation takes effect immediately.
    const { sender } = state;
    const grants = this.#grantsOf(sender.id);
    if (grants === undefined) return this.close(CHAT_CLOSE.revoked, "revoked");
    const { chat, wire } = this.#options;
    if (message.type === "stop") return chat.stop({ ...message, sender });
    if (message.type !== "say" && message.type !== "press") {
      if (this.#rate.take()) this.#manage(message, sender.id);
      return;
    }
    const { id, conversation } = message;
    const files = this.#files.take(id);
    if (message.type === "say" && message.text === "" && files.length === 0)
      return this.close(CHAT_CLOSE.invalid, "empty message");
    if (!this.#rate.take()) {
      const code = "chat_too_many";
      const error = { code, text: `${ERRORS[code].cause} ${fixOf(code)}`, again: true };
      return wire.send({ type: "error", id, ...error, ...(conversation !== "" && { conversation }) });
    }
    const from = { id, sender, grants, conversation };
    if (message.type === "press") chat.press({ ...from, press: message.press });
    else chat.say({ ...from, text: message.text, files, instead: message.instead });
  }

  #manage(message: Extract<FromPage, { type: "open" | "rename" | "delete" | "find" }>, device: string): void {
    const { chat, wire } = this.#options;
    this.#knowsOthers = true;
    switch (message.type) {
      case "open":
        this.#conversation = message.conversation;
        for (const one of chat.opened(device, message.conversation)) wire.send(one);
        return;
      case "rename":
        return chat.rename(device, message.conversation, message.title);
      case "delete":
        return chat.delete(device, message.conversation);
      case "find":
        return wire.send(chat.find(device, message.id, message.query));
    }
  }

  /**
   * Sends a message to the page. Omits partial answers and typing indicators of conversations that the page does not
   * show.
   */
  #send(message: ToPage): void {
    const { conversation = "" } = message as { conversation?: string };
    const isElsewhere = conversation !== this.#conversation && message.type !== "conversations";
    if (isElsewhere && (!this.#knowsOthers || message.type === "text" || message.type === "typing")) return;
    this.#options.wire.send(message);
  }

  /** Checks whether the operator has approved, rejected or revoked the device. Called every second. */
  look(paired: ReadonlyMap<string, PairedDevice>): void {
    const state = this.#state;
    if (state.phase === "door") void state.door.look();
    if (state.phase !== "paired" || this.#options.admitted !== undefined) return;
    const device = paired.get(state.sender.id);
    if (device === undefined || !isUsable(device)) this.close(CHAT_CLOSE.revoked, "revoked");
  }

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
    const { welcome, leave } = chat.join(deviceId, (message) => this.#send(message));
    this.#state = { phase: "paired", sender, leave };
    wire.send(welcome);
  }

  /** Returns `undefined` after a revocation. */
  #grantsOf(id: string): GrantedRole | undefined {
    const { admitted, devices } = this.#options;
    if (admitted !== undefined) return admitted.role;
    const device = devices.paired().find(({ deviceId }) => deviceId === id);
    return device !== undefined && isUsable(device) ? grantedTo(device) : undefined;
  }
}

type FromPage = z.output<typeof fromPageSchema>;

class Rate {
  readonly #clock: () => number;
  #left = BURST;
  #at: number;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#at = clock();
  }

  /** Counts one message against the rate limit. Returns false if the limit is reached. */
  take(): boolean {
    const now = this.#clock();
    this.#left = Math.min(BURST, this.#left + Math.max(0, now - this.#at) / REFILL_MS);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
