import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { CHAT_TITLE, type ChatTurn, type Conversation, type Hit } from "../../contract/chat.ts";
import { parseMarkdown } from "../markdown/parse.ts";
import { oneLine } from "../prompt/text.ts";
import { deleteConversation, deleteLastExchange } from "../sessions/retention.ts";
import { readWebSession, webSession } from "./outbox.ts";

/** Maximum number of messages, and of conversations, that a page shows. */
const SHOWN = 200;
/** Maximum number of messages that a search reads. */
const MAX_SEARCHED = 5_000;
/** Maximum number of characters that a search reads from each message. */
const LONGEST_SEARCHED = 20_000;
const MAX_HITS = 30;
/** Number of characters that an excerpt shows on each side of the match. */
const AROUND = 60;

/** State of a message without a complete answer: the answer was stopped, or the message was removed. */
type Mark = "stopped" | "removed";

/** Reads transcripts for the web chat's pages, including messages that /new has hidden from the model. */
export class ChatHistory {
  readonly #database: DatabaseSync;
  readonly #recent: StatementSync;
  readonly #mark: StatementSync;
  readonly #marked: StatementSync;
  readonly #list: StatementSync;
  readonly #searched: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    // In a row with an empty `delivery`, `mark` is the conversation's title.
    database.exec(
      `CREATE TABLE IF NOT EXISTS chat_marks (
         conversation TEXT NOT NULL,
         delivery TEXT NOT NULL,
         mark TEXT NOT NULL,
         PRIMARY KEY (conversation, delivery)
       ) STRICT, WITHOUT ROWID;
       CREATE TRIGGER IF NOT EXISTS chat_marks_ended AFTER DELETE ON sessions BEGIN
         DELETE FROM chat_marks WHERE conversation = old.conversation;
       END`,
    );
    this.#recent = database.prepare(
      `SELECT messages.delivery, role, text, at, words, mark FROM messages
       LEFT JOIN chat_marks USING (conversation, delivery)
       WHERE conversation = ? AND role IN ('user', 'assistant') AND text <> ''
       ORDER BY seq DESC LIMIT ${SHOWN}`,
    );
    this.#mark = database.prepare(
      `INSERT INTO chat_marks (conversation, delivery, mark) VALUES (?, ?, ?)
       ON CONFLICT (conversation, delivery) DO UPDATE SET mark = excluded.mark`,
    );
    this.#marked = database.prepare("SELECT mark FROM chat_marks WHERE conversation = ? AND delivery = ?");
    this.#list = database.prepare(
      `SELECT conversation, updated_at AS at, coalesce(
         (SELECT mark FROM chat_marks WHERE conversation = sessions.conversation AND delivery = ''),
         (SELECT substr(text, 1, 400) FROM messages
          WHERE conversation = sessions.conversation AND role = 'user' ORDER BY seq LIMIT 1)) AS title
       FROM sessions WHERE conversation >= :first AND conversation < :first || ';' AND updated_at IS NOT NULL
       ORDER BY updated_at DESC LIMIT ${SHOWN}`,
    );
    // The inner query reads only the index, not the texts.
    this.#searched = database.prepare(
      `SELECT conversation, substr(text, 1, ${LONGEST_SEARCHED}) AS text, at FROM messages WHERE seq IN (
         SELECT seq FROM messages WHERE conversation >= :first AND conversation < :first || ';'
         ORDER BY seq DESC LIMIT ${MAX_SEARCHED})
       ORDER BY seq DESC`,
    );
  }

  recent(session: string): ChatTurn[] {
    return this.#recent.all(session).map(readTurn).toReversed();
  }

  /** Newest first, without empty conversations. */
  conversations(device: string): Conversation[] {
    return this.#list.all({ first: webSession(device) }).flatMap(({ conversation, title, at }) => {
      const id = readWebSession(String(conversation)).conversation;
      return title === null ? [] : [{ id, title: oneLine(String(title), CHAT_TITLE), at: Number(at) }];
    });
  }

  /**
   * Searches titles and the newest messages, ignoring case. Returns matching titles first, then messages, newest
   * first.
   */
  find(device: string, query: string): Hit[] {
    const wanted = query.trim().toLowerCase();
    if (wanted === "") return [];
    const conversations = this.conversations(device);
    const titles = new Map(conversations.map(({ id, title }) => [id, title]));
    const hits = conversations
      .filter(({ title }) => title.toLowerCase().includes(wanted))
      .map(({ id, title, at }): Hit => ({ conversation: id, title, excerpt: "", at }));
    for (const { conversation, text, at } of this.#searched.iterate({ first: webSession(device) })) {
      if (hits.length >= MAX_HITS) break;
      const id = readWebSession(String(conversation)).conversation;
      const excerpt = excerptOf(String(text), wanted);
      const title = titles.get(id);
      if (excerpt !== undefined && title !== undefined)
        hits.push({ conversation: id, title, excerpt, at: Number(at) });
    }
    return hits.slice(0, MAX_HITS);
  }

  /** Sets a conversation's title. An empty title restores the default: the first words of the conversation. */
  rename(session: string, title: string): void {
    const { device, conversation } = readWebSession(session);
    if (!this.conversations(device).some(({ id }) => id === conversation)) return;
    if (title.trim() !== "") this.#mark.run(session, "", oneLine(title, CHAT_TITLE));
    else
      this.#database.prepare("DELETE FROM chat_marks WHERE conversation = ? AND delivery = ''").run(session);
  }

  /** Deletes a conversation. Existing backups still contain it. */
  delete(session: string): void {
    deleteConversation(this.#database, session);
  }

  /** Removes a message and its answer. Returns false if it is not the last message. */
  removeLast(session: string, delivery: string): boolean {
    return deleteLastExchange(this.#database, session, delivery);
  }

  /** Records that an answer was stopped or a message removed, so that a resent message gets no answer. */
  mark(session: string, delivery: string, mark: Mark): void {
    this.#mark.run(session, delivery, mark);
  }

  markOf(session: string, delivery: string): Mark | undefined {
    return this.#marked.get(session, delivery)?.["mark"] as Mark | undefined;
  }
}

function readTurn({ delivery, role, text, at, words, mark }: Record<string, SQLOutputValue>): ChatTurn {
  const stopped = mark === "stopped" ? ({ stopped: true } as const) : {};
  const turn = { id: String(delivery), at: Number(at), text: String(text), ...stopped };
  if (role !== "user") return { ...turn, role: "assistant", blocks: parseMarkdown(turn.text) };
  const shown = typeof words === "number" ? withoutContents(turn.text, words) : {};
  return { ...turn, role: "user", ...shown };
}

/** Shortens a stored question: removes the files' contents, and keeps one line per file. */
function withoutContents(text: string, words: number): Pick<ChatTurn, "text" | "words"> {
  const said = text.slice(0, words);
  const files = text
    .slice(words)
    .split("\n")
    .filter((line) => line.startsWith("["));
  return { text: [said, ...files].filter((line) => line !== "").join("\n"), words };
}

function excerptOf(text: string, wanted: string): string | undefined {
  const at = text.toLowerCase().indexOf(wanted);
  if (at === -1) return undefined;
  const [from, to] = [Math.max(0, at - AROUND), at + wanted.length + AROUND];
  const cut = text.slice(from, to).toWellFormed().replace(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${cut}${to < text.length ? "…" : ""}`;
}
