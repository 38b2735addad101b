import type { Sender } from "../../contract/message.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Aside, Speaker } from "../prompt/speaker.ts";
import { oneLine, speakerText } from "../prompt/text.ts";

/** Characters of one message that are kept: it is an aside, not a question. */
const LONGEST_TEXT = 2_000;
const LONGEST_NAME = 200;
/** A line of what was kept before it was stored as JSON, which began with a head in round brackets. */
const FORMER_LINE = /^\[([^\]]*)\]: (.*)$/;

/** A group's message that was not for the bot. */
export interface ContextMessage {
  /** The platform's event id. */
  delivery: string;
  sender: Sender;
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Store of what was said in groups and not to the bot, until its next answer there. */
export class ContextNotes {
  readonly #insert: StatementSync;
  readonly #trim: StatementSync;
  readonly #take: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `INSERT INTO session_context (conversation, delivery, sender, name, username, text, at)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation, delivery) DO NOTHING`,
    );
    this.#trim = database.prepare(
      `DELETE FROM session_context WHERE conversation = :conversation AND seq <= (
         SELECT seq FROM session_context WHERE conversation = :conversation
         ORDER BY seq DESC LIMIT 1 OFFSET :keep)`,
    );
    this.#take = database.prepare(
      "DELETE FROM session_context WHERE conversation = ? RETURNING seq, sender, name, username, text",
    );
  }

  /** Keeps a message, and the last `keep` of its conversation in all. */
  note(conversation: string, { delivery, sender, text, at }: ContextMessage, keep: number): void {
    if (keep <= 0) return;
    const short = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…` : text;
    const { name, username } = storedNames(sender);
    this.#insert.run(conversation, delivery, sender.id, name, username, short, at);
    this.#trim.run({ conversation, keep });
  }

  /** Returns what is kept of a conversation, as it is stored with a message; `null` if there is nothing. Removes it. */
  take(conversation: string): string | null {
    const rows = this.#take.all(conversation).toSorted((a, b) => Number(a["seq"]) - Number(b["seq"]));
    if (rows.length === 0) return null;
    return JSON.stringify(rows.map((row) => ({ speaker: readSpeaker(row), text: String(row["text"]) })));
  }
}

/** Returns the columns of a sender's names, on one line each. A sender without a name is called by its id. */
export function storedNames({ id, name = "", username }: Sender): { name: string; username: string | null } {
  const shown = oneLine(name, LONGEST_NAME);
  return { name: shown === "" ? id : shown, username: username ? oneLine(username, LONGEST_NAME) : null };
}

/** Reads the columns of a sender. Rows of before they were kept have no id, or no user name. */
export function readSpeaker({ sender, name, username }: Record<string, unknown>): Speaker {
  return {
    ...(typeof sender === "string" && { id: sender }),
    ...(typeof name === "string" && { name }),
    ...(typeof username === "string" && { username }),
  };
}

/** Reads what was stored with a message of what was said before it. */
export function readAsides(stored: string): Aside[] {
  if (!stored.startsWith("[{")) return readFormer(stored);
  const asides = JSON.parse(stored) as { speaker: Speaker; text: string }[];
  return asides.map(({ speaker, text }) => ({ speaker, text: speakerText(text) }));
}

/** Reads what was stored as lines: each message begins with its speaker's name, its further lines are indented. */
function readFormer(stored: string): Aside[] {
  const asides: { name: string; lines: string[] }[] = [];
  for (const line of stored.split("\n").slice(1)) {
    const [, name, first = ""] = FORMER_LINE.exec(line) ?? [];
    if (name !== undefined) asides.push({ name, lines: [first] });
    else asides.at(-1)?.lines.push(line.replace(/^ {4}/, ""));
  }
  return asides.map(({ name, lines }) => ({ speaker: { name }, text: speakerText(lines.join("\n")) }));
}
