import type { DatabaseSync } from "node:sqlite";
import type { Platform } from "../contract/delivery.ts";
import { transaction } from "../process/database.ts";
import { randomBytes } from "../process/random.ts";

const KEEP_MS = 7 * 24 * 3_600_000;

export type Action =
  /** Sends `text` on behalf of the person who presses the button. */
  | { does: "say"; text: string }
  /** Sends a stored answer as a file. `delivery` identifies the answered message. */
  | { does: "file"; session: string; delivery: string }
  | { does: "admit" | "refuse"; platform: Platform; sender: string; name: string };

type ButtonPlatform = Platform | "web";

/** The buttons of one message. Only one of them can be pressed, and only once. */
export interface Offer {
  platform: ButtonPlatform;
  /** The only person who may press. */
  by: string;
  /** Key of the question's subject, so that the same question is not asked twice. */
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
  /**
   * Id of the event that reports the button press. If the same event is delivered again, the id is the same, so the
   * press is not refused as a second press.
   */
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

  /** Returns true if a button about this subject still waits for a press by this person. */
  waits(about: string, by: string): boolean {
    const query = "SELECT 1 FROM chat_actions WHERE about = ? AND by = ? AND used IS NULL AND expires_at > ?";
    return this.#database.prepare(query).get(about, by, this.#clock()) !== undefined;
  }

  /**
   * Returns the state of the message that contains the button with the id `press`. `label` belongs to whichever of
   * the message's buttons was pressed.
   */
  stateOf(press: string): { is: "open" | "expired" | "unknown" } | { is: "used"; label: string } {
    const find = this.#database.prepare("SELECT * FROM chat_actions WHERE press = ?");
    const row = find.get(press);
    if (row === undefined) return { is: "unknown" };
    const used = row["used"];
    if (typeof used !== "string")
      return { is: Number(row["expires_at"]) > this.#clock() ? "open" : "expired" };
    return { is: "used", label: String(find.get(used.split(" ").at(-1) ?? "")?.["label"]) };
  }

  /** Records a press. Only one press per message is accepted. */
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
