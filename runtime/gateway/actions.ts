import type { DatabaseSync } from "node:sqlite";
import type { Platform } from "../contract/delivery.ts";
import { transaction } from "../process/database.ts";
import { randomBytes } from "../process/random.ts";

const KEEP_MS = 7 * 24 * 3_600_000;

export type Action =
  /** Sends `text` on behalf of the person who presses. */
  | { does: "say"; text: string }
  /** Sends the answer to `delivery` as a file. */
  | { does: "file"; session: string; delivery: string }
  | { does: "admit" | "refuse"; platform: Platform; sender: string; name: string };

type ButtonPlatform = Platform | "web";

/** The buttons of one message. Only one of them can be pressed, once. */
export interface Offer {
  platform: ButtonPlatform;
  /** The only person who may press. */
  by: string;
  /** Identifies the subject, so that it is not asked about twice. */
  about?: string;
  choices: readonly { label: string; action: Action }[];
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

export interface Button {
  label: string;
  /** An unguessable id of at most 64 characters, Telegram's limit for callback data. */
  press: string;
}

interface Press {
  press: string;
  platform: ButtonPlatform;
  sender: string;
  /** Event id. A retried event counts as the same press. */
  delivery: string;
}

export type PressResult =
  | { is: "taken"; label: string; action: Action }
  | { is: "unknown" | "expired" | "used" | "another's" };

export class Actions {
  readonly #database: DatabaseSync;
  readonly #clock: () => number;

  constructor(database: DatabaseSync, clock: () => number) {
    this.#database = database;
    this.#clock = clock;
  }

  offer({ platform, by, about, choices, expiresAt }: Offer): Button[] {
    const set = name();
    return transaction(this.#database, () => {
      this.#database.prepare("DELETE FROM chat_actions WHERE expires_at < ?").run(this.#clock() - KEEP_MS);
      return choices.map(({ label, action }) => {
        const press = name();
        this.#database
          .prepare(
            `INSERT INTO chat_actions (press, offer, platform, by, about, label, action, expires_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(press, set, platform, by, about ?? null, label, JSON.stringify(action), expiresAt);
        return { label, press };
      });
    });
  }

  /** Returns true if a button about this subject waits for a press. */
  waits(about: string, by: string): boolean {
    const query = "SELECT 1 FROM chat_actions WHERE about = ? AND by = ? AND used IS NULL AND expires_at > ?";
    return this.#database.prepare(query).get(about, by, this.#clock()) !== undefined;
  }

  /** Returns the state of a button's message. `label` is that of the pressed button. */
  look(press: string): { is: "open" | "expired" | "unknown" } | { is: "used"; label: string } {
    const find = this.#database.prepare("SELECT * FROM chat_actions WHERE press = ?");
    const row = find.get(press);
    if (row === undefined) return { is: "unknown" };
    const used = row["used"];
    if (typeof used !== "string")
      return { is: Number(row["expires_at"]) > this.#clock() ? "open" : "expired" };
    return { is: "used", label: String(find.get(used.split(" ").at(-1) ?? "")?.["label"]) };
  }

  /** Records a press. Each message accepts only one. */
  take({ press, platform, sender, delivery }: Press): PressResult {
    return transaction(this.#database, () => {
      const row = this.#database.prepare("SELECT * FROM chat_actions WHERE press = ?").get(press);
      if (row === undefined || row["platform"] !== platform) return { is: "unknown" };
      if (row["by"] !== sender) return { is: "another's" };
      const used = row["used"];
      const mark = `${platform} ${delivery} ${press}`;
      if (used !== null && used !== mark) return { is: "used" };
      if (used === null && Number(row["expires_at"]) <= this.#clock()) return { is: "expired" };
      this.#database
        .prepare("UPDATE chat_actions SET used = ? WHERE offer = ?")
        .run(mark, row["offer"] ?? "");
      const action = JSON.parse(String(row["action"])) as Action;
      return { is: "taken", label: String(row["label"]), action };
    });
  }
}

function name(): string {
  return randomBytes(16).toString("base64url");
}
