import type { Config } from "../../contract/config/index.ts";
import { parseDuration } from "../../contract/duration.ts";
import { localTime } from "../agent/instructions.ts";
import type { Sender } from "../../contract/message.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Aside, Speaker } from "../prompt/speaker.ts";
import { oneLine, speakerText } from "../prompt/text.ts";

const DAY_MS = 24 * 3_600_000;

/** Maximum length in characters. Longer context messages are shortened. */
const LONGEST_TEXT = 2_000;
const LONGEST_NAME = 200;
/** Matches the first line of a message in the text format of older versions. */
const FORMER_LINE = /^\[([^\]]*)\]: (.*)$/;

/** A group message that did not address the bot, or an edit of an earlier question. */
export interface ContextMessage {
  /** The platform's event id. */
  delivery: string;
  /** The platform's id of the message. */
  message?: string | undefined;
  sender: Sender;
  text: string;
  /** The previous text of an edited question. */
  was?: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Stores unanswered messages, until the next question in their conversation includes them. */
export class ContextNotes {
  readonly #insert: StatementSync;
  readonly #trim: StatementSync;
  readonly #take: StatementSync;
  readonly #change: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `INSERT INTO session_context (conversation, delivery, sender, name, username, text, at, message, was)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation, delivery) DO NOTHING`,
    );
    this.#trim = database.prepare(
      `DELETE FROM session_context WHERE conversation = :conversation AND seq <= (
         SELECT seq FROM session_context WHERE conversation = :conversation
         ORDER BY seq DESC LIMIT 1 OFFSET :keep)`,
    );
    this.#take = database.prepare(
      "DELETE FROM session_context WHERE conversation = ? RETURNING seq, sender, name, username, text, was",
    );
    this.#change = database.prepare(
      "UPDATE session_context SET text = ? WHERE conversation = ? AND message = ?",
    );
    this.#remove = database.prepare("DELETE FROM session_context WHERE conversation = ? AND message = ?");
  }

  /** Stores a message, then removes all except the conversation's last `keep` messages. */
  note(session: string, { delivery, message, sender, text, was, at }: ContextMessage, keep: number): void {
    if (keep <= 0) return;
    const { name, username } = storedSenderNames(sender);
    const former = was === undefined ? null : shortened(was);
    const columns = [sender.id, name, username, shortened(text), at, message ?? null, former] as const;
    this.#insert.run(session, delivery, ...columns);
    this.#trim.run({ conversation: session, keep });
  }

  /** Restores the context messages of a retracted question. `stored` is the result of {@link take}. */
  restore(session: string, delivery: string, stored: string, at: number): void {
    for (const [index, { speaker, text, was }] of readAsides(stored).entries()) {
      const sender = { ...speaker, id: speaker.id ?? "" };
      const message = {
        delivery: `${delivery} ${index}`,
        sender,
        text,
        ...(was !== undefined && { was }),
        at,
      };
      this.note(session, message, Number.MAX_SAFE_INTEGER);
    }
  }

  /**
   * Replaces the text of a message, or removes the message if `text` is `undefined`. Returns false if the message is
   * not stored.
   */
  change(session: string, message: string, text: string | undefined): boolean {
    const { changes } =
      text === undefined
        ? this.#remove.run(session, message)
        : this.#change.run(shortened(text), session, message);
    return Number(changes) > 0;
  }

  /**
   * Removes a conversation's unanswered messages and returns them as JSON to store with the next question; `null` if
   * there are none.
   */
  take(session: string): string | null {
    const rows = this.#take.all(session).toSorted((a, b) => Number(a["seq"]) - Number(b["seq"]));
    if (rows.length === 0) return null;
    const asides = rows.map((row) => {
      const { text, was } = row;
      return { speaker: readSpeaker(row), text: String(text), was: was ?? undefined };
    });
    return JSON.stringify(asides);
  }
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…` : text;
}

/** Returns a sender's names without line breaks. `name` is the id if the sender has no name. */
export function storedSenderNames({ id, name = "", username }: Sender): {
  name: string;
  username: string | null;
} {
  const shown = oneLine(name, LONGEST_NAME);
  return { name: shown === "" ? id : shown, username: username ? oneLine(username, LONGEST_NAME) : null };
}

/** Reads a speaker from a row. Older versions stored no id or user name. */
export function readSpeaker({ sender, name, username }: Record<string, unknown>): Speaker {
  return {
    ...(typeof sender === "string" && { id: sender }),
    ...(typeof name === "string" && { name }),
    ...(typeof username === "string" && { username }),
  };
}

export function readAsides(stored: string): Aside[] {
  if (!stored.startsWith("[{")) return readPreviousFormat(stored);
  const asides = JSON.parse(stored) as { speaker: Speaker; text: string; was?: string }[];
  return asides.map(({ speaker, text, was }) => {
    const aside = { speaker, text: speakerText(text) };
    return was === undefined ? aside : Object.assign(aside, { was: speakerText(was) });
  });
}

/**
 * Parses the text format of older versions. After a heading line, each message begins with its speaker's name.
 * Further lines of a message are indented.
 */
function readPreviousFormat(stored: string): Aside[] {
  const asides: { name: string; lines: string[] }[] = [];
  for (const line of stored.split("\n").slice(1)) {
    const [, name, first = ""] = FORMER_LINE.exec(line) ?? [];
    if (name !== undefined) asides.push({ name, lines: [first] });
    else asides.at(-1)?.lines.push(line.replace(/^ {4}/, ""));
  }
  return asides.map(({ name, lines }) => ({ speaker: { name }, text: speakerText(lines.join("\n")) }));
}

/**
 * Returns true if the session must start over before the new message: the daily reset time has passed, or the session
 * was idle for too long. Times are milliseconds since the epoch.
 */
export function isResetDue(
  rules: Config["sessions"]["reset"],
  lastAt: number | undefined,
  now: number,
): boolean {
  if (lastAt === undefined) return false;
  const { dailyAt, timezone = "UTC", idle } = rules;
  if (idle !== undefined && now - lastAt >= (parseDuration(idle) ?? Number.POSITIVE_INFINITY)) return true;
  if (dailyAt === undefined || now <= lastAt) return false;
  if (now - lastAt >= 2 * DAY_MS) return true;
  // Compare local dates, so that summer time needs no special case.
  return dayOf(now, dailyAt, timezone) > dayOf(lastAt, dailyAt, timezone);
}

/** Returns the local date, counting hours before `dailyAt` as part of the previous day. */
function dayOf(at: number, dailyAt: string, timeZone: string): string {
  // This locale formats as YYYY-MM-DD HH:MM.
  const [date = "", time = ""] = localTime(at, timeZone, { locale: "sv-SE", dateStyle: "short" }).split(" ");
  if (time >= dailyAt) return date;
  return new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
