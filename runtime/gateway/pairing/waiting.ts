import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Platform } from "../../contract/delivery.ts";
import type { ReplyTarget } from "../channels/channel.ts";

/** A sender that was given a code, and where it is to be told of its approval. */
export interface WaitingSender {
  platform: Platform;
  sender: string;
  target: ReplyTarget;
}

/** Who waits to be told. In the database, so that an approval while the gateway is down is told later. */
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

  /** Notes a sender; one that asks again is told where it asked last. */
  add({ platform, sender, target }: WaitingSender): void {
    this.#add.run(platform, sender, target.chat, target.thread ?? null);
  }

  /** Forgets a sender: it was told, or there is nothing to tell any more. */
  remove({ platform, sender }: Pick<WaitingSender, "platform" | "sender">): void {
    this.#remove.run(platform, sender);
  }

  /** Who waits on a platform. */
  on(platform: Platform): WaitingSender[] {
    return this.#on.all(platform).map(({ sender, chat, thread }) => {
      const target = { chat: String(chat), ...(typeof thread === "string" && { thread }) };
      return { platform, sender: String(sender), target };
    });
  }
}
