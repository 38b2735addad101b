import type { ReplyTarget } from "../../contract/message.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Platform } from "../../contract/delivery.ts";
import { pairingText } from "../../shared/channel-access.ts";
import type { Log } from "../../shared/log.ts";
import type { PairingStores } from "./store.ts";

/** Dependencies of the desk. */
interface PairingDeskOptions {
  stores: PairingStores;
  waiting: WaitingSenders;
  /** A sender waits for an approval from now on. */
  onWaiting(): void;
  log: Log;
}

/** Desk at which a stranger asks to be let in. */
export class PairingDesk {
  readonly #options: PairingDeskOptions;

  constructor(options: PairingDeskOptions) {
    this.#options = options;
  }

  /**
   * Returns the reply to a stranger; `meta` is what the platform says about it. If the list is full, the reply has the
   * sender's id in place of a code: the operator can let the sender in by it.
   */
  ask({ meta, ...stranger }: WaitingSender & { meta?: Record<string, string> }): string {
    const { stores, waiting, onWaiting, log } = this.#options;
    const { platform, sender } = stranger;
    const request = stores(platform).request(sender, meta);
    // The code stays out of the log: it is for the sender and the operator.
    log.info(request ? "a sender asks to be let in" : "a sender was left waiting: the list is full", {
      platform,
      sender,
    });
    if (request !== undefined) {
      waiting.add(stranger);
      onWaiting();
    }
    return pairingText(platform, sender, request?.code);
  }
}

/** A sender that got a code, and where to notify it of its approval. */
export interface WaitingSender {
  platform: Platform;
  sender: string;
  target: ReplyTarget;
}

/** Store of the senders to notify. In the database, so that an approval while the gateway is down is sent later. */
export class WaitingSenders {
  readonly #add: StatementSync;
  readonly #remove: StatementSync;
  readonly #on: StatementSync;

  constructor(database: DatabaseSync) {
    this.#add = database.prepare(
      `INSERT INTO waiting_senders (platform, sender, chat, thread) VALUES (?, ?, ?, ?)
       ON CONFLICT (platform, sender) DO UPDATE SET chat = excluded.chat, thread = excluded.thread`,
    );
    this.#remove = database.prepare("DELETE FROM waiting_senders WHERE platform = ? AND sender = ?");
    this.#on = database.prepare("SELECT sender, chat, thread FROM waiting_senders WHERE platform = ?");
  }

  /** Records a sender; one that asks again is notified where it asked last. */
  add({ platform, sender, target }: WaitingSender): void {
    this.#add.run(platform, sender, target.chat, target.thread ?? null);
  }

  /** Forgets a sender: it was notified, or there is no more to send. */
  remove({ platform, sender }: Pick<WaitingSender, "platform" | "sender">): void {
    this.#remove.run(platform, sender);
  }

  /** Returns who waits on a platform. */
  on(platform: Platform): WaitingSender[] {
    return this.#on.all(platform).map(({ sender, chat, thread }) => {
      const target = { chat: String(chat), ...(typeof thread === "string" && { thread }) };
      return { platform, sender: String(sender), target };
    });
  }
}
