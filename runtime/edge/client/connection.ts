/** The page's WebSocket. It proves the device's identity, and reconnects if a retry may help. */
import { CHAT_CLOSE, type FromPage, proofText, type ToPage } from "../../contract/chat.ts";
import { displayName, openDevice } from "./device.ts";

const LONGEST_WAIT_MS = 30_000;
/**
 * Maximum reconnection delay while the user waits, in milliseconds. A longer delay might let the gateway fall asleep
 * again.
 */
const LONGEST_WAITED_FOR_MS = 2_000;
const FIRST_WAIT_MS = 500;

export type Ended = "no key" | "asleep" | "revoked" | "late" | "full" | "refused" | "lost";

const ENDS: Readonly<Record<number, Ended>> = {
  [CHAT_CLOSE.asleep]: "asleep",
  [CHAT_CLOSE.revoked]: "revoked",
  [CHAT_CLOSE.late]: "late",
  [CHAT_CLOSE.full]: "full",
  [CHAT_CLOSE.invalid]: "refused",
  [CHAT_CLOSE.unproven]: "refused",
};

interface ConnectionOptions {
  onConnecting(): void;
  onMessage(message: Exclude<ToPage, { type: "challenge" }>): void;
  onEnd(why: Ended): void;
  /** Returns true if a message still has to be answered or withdrawn. */
  isDue(): boolean;
}

export class PageConnection {
  /** True once the gateway has admitted this browser on this connection. */
  isWelcome = false;
  readonly #options: ConnectionOptions;
  #socket: WebSocket | undefined;
  #attempts = 0;
  /**
   * True while the gateway sleeps. The page then reconnects only when the user types, so that an idle page does not
   * wake the gateway.
   */
  #isAsleep = false;
  /** True while the user waits for a connection. False once the page is admitted or needs approval. */
  #isWanted = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    addEventListener("online", () => {
      if (this.#socket?.readyState === WebSocket.CLOSED && !this.#isAsleep) void this.connect();
    });
  }

  /** Reconnects a sleeping page. Call it when the user types or needs the gateway. */
  reconnectIfAsleep(): void {
    if (!this.#isAsleep) return;
    [this.#isAsleep, this.#isWanted] = [false, true];
    void this.connect();
  }

  send(message: FromPage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** @param renew Creates a new key. */
  async connect(renew = false): Promise<void> {
    const { onConnecting, onMessage, onEnd, isDue } = this.#options;
    onConnecting();
    if (this.#socket === undefined) this.#isWanted = isDue();
    const device = await openDevice(renew).catch(() => undefined);
    if (device === undefined) return onEnd("no key");
    this.isWelcome = false;
    const socket = new WebSocket(location.origin.replace(/^http/, "ws") + document.body.dataset["socket"]);
    this.#socket = socket;
    socket.addEventListener("message", async ({ data }) => {
      const message: ToPage = JSON.parse(data);
      if (message.type === "challenge") {
        const { deviceId, publicKey } = device;
        const proof = proofText({ nonce: message.nonce, deviceId, origin: location.origin });
        const signature = await device.sign(proof);
        const name = displayName(navigator.userAgent);
        return this.send({ type: "hello", deviceId, publicKey, displayName: name, signature });
      }
      if (message.type === "welcome") [this.isWelcome, this.#attempts] = [true, 0];
      if (message.type === "welcome" || message.type === "pairing") this.#isWanted = false;
      onMessage(message);
    });
    socket.addEventListener("close", ({ code }) => {
      if (socket === this.#socket) this.#end(socket, code);
    });
  }

  #end(socket: WebSocket, code: number): void {
    // The gateway may fall asleep while a message is on its way. Reconnect to send the message again.
    const isDue = this.#isWanted || (this.isWelcome && this.#options.isDue());
    this.isWelcome = false;
    const ended = ENDS[code] ?? "lost";
    const why = ended === "asleep" && isDue ? "lost" : ended;
    this.#isAsleep = why === "asleep";
    this.#options.onEnd(why);
    if (why !== "lost") return;
    const longest = isDue ? LONGEST_WAITED_FOR_MS : LONGEST_WAIT_MS;
    const wait = Math.min(longest, FIRST_WAIT_MS * 2 ** this.#attempts) * (0.75 + Math.random() / 2);
    this.#attempts += 1;
    setTimeout(() => void (socket === this.#socket && this.connect()), wait);
  }
}
