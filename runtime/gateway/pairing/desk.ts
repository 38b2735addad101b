import type { ReplyTarget } from "../../contract/message.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Platform } from "../../contract/delivery.ts";
import { pairingText } from "../../shared/channel-access.ts";
import type { Log } from "../../shared/log.ts";
import type { PairingStores } from "./store.ts";

interface PairingDeskOptions {
  stores: PairingStores;
  waiting: WaitingSenders;
  onWaiting(): void;
  log: Log;
}

export class PairingDesk {
  readonly #options: PairingDeskOptions;

  constructor(options: PairingDeskOptions) {
    this.#options = options;
  }

  /**
   * Records a stranger's access request and returns the reply: a code, or the sender's id if the list of requests is
   * full. `meta` is the platform's data about the sender.
   */
  ask({ meta, ...stranger }: WaitingSender & { meta?: Record<string, string> }): string {
    const { stores, waiting, onWaiting, log } = this.#options;
    const { platform, sender } = stranger;
    const request = stores(platform).request(sender, meta);
    // Do not log the code, which only the sender and the operator may see.
    log.info(request ? "a sender requests access" : "a sender's request was not recorded: the list is full", {
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

/** A sender who waits for approval. `target` receives the notice of the approval. */
export interface WaitingSender {
  platform: Platform;
  sender: string;
  target: ReplyTarget;
}

/**
 * Stores the senders who wait for approval. If the gateway is down when a sender is approved, its next start notifies
 * the sender.
 */
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

  /** Adds a sender who waits for approval. If the sender already waits, the new `target` replaces the old one. */
  add({ platform, sender, target }: WaitingSender): void {
    this.#add.run(platform, sender, target.chat, target.thread ?? null);
  }

  remove({ platform, sender }: Pick<WaitingSender, "platform" | "sender">): void {
    this.#remove.run(platform, sender);
  }

  on(platform: Platform): WaitingSender[] {
    return this.#on.all(platform).map(({ sender, chat, thread }) => {
      const target = { chat: String(chat), ...(typeof thread === "string" && { thread }) };
      return { platform, sender: String(sender), target };
    });
  }
}
