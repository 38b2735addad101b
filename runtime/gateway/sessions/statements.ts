import type { DatabaseSync } from "node:sqlite";

export type SessionStatements = ReturnType<typeof sessionStatements>;

/** Prepares the statements of {@link Sessions}. Each reads only a few rows, through an index. */
export function sessionStatements(database: DatabaseSync) {
  return {
    append: database.prepare(
      `INSERT INTO messages
         (conversation, delivery, role, sender, name, username, context, quoted, text, at, message, words)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation, delivery, role) DO NOTHING`,
    ),
    question: database.prepare(
      `SELECT seq, sender, name, username, context, quoted, text, words FROM messages
       WHERE conversation = ? AND delivery = ? AND role = 'user'`,
    ),
    revise: database.prepare(
      `UPDATE messages SET text = ?, quoted = ?, words = ?
       WHERE conversation = ? AND delivery = ? AND role = 'user'`,
    ),
    retract: database.prepare(
      "DELETE FROM messages WHERE conversation = ? AND delivery = ? AND role = 'user' RETURNING context",
    ),
    /** Reads the newest stored version of a message, ignoring the version that `delivery` brought. */
    version: database.prepare(
      `SELECT text, words, seq <= coalesce(begins_after, 0) AS forgotten, NOT EXISTS (
         SELECT 1 FROM messages AS later WHERE later.conversation = :conversation AND later.seq > messages.seq
           AND later.role = 'user' AND later.sender = messages.sender AND later.delivery <> :delivery) AS latest
       FROM messages LEFT JOIN sessions USING (conversation)
       WHERE conversation = :conversation AND message = :message AND role = 'user' AND delivery <> :delivery
       ORDER BY seq DESC LIMIT 1`,
    ),
    /** Sets `question` of a user's message to the delivery under which the message's answer is stored. */
    join: database.prepare(
      "UPDATE messages SET question = ? WHERE conversation = ? AND delivery = ? AND role = 'user'",
    ),
    answer: database.prepare(
      `SELECT delivery, text FROM messages
       WHERE conversation = :conversation AND role = 'assistant' AND delivery = coalesce((
         SELECT question FROM messages
         WHERE conversation = :conversation AND delivery = :delivery AND role = 'user'), :delivery)`,
    ),
    before: database.prepare(
      `SELECT messages.seq, role, sender, name, username, context, quoted, text FROM messages
       LEFT JOIN sessions USING (conversation)
       WHERE conversation = :conversation AND messages.seq < :before
         AND messages.seq > max(coalesce(begins_after, 0), coalesce(summary_to, 0))
       ORDER BY messages.seq DESC LIMIT :limit`,
    ),
    session: database.prepare("SELECT * FROM sessions WHERE conversation = ?"),
    summarise: database.prepare("UPDATE sessions SET summary = ?, summary_to = ? WHERE conversation = ?"),
    reset: database.prepare(
      `INSERT INTO sessions (conversation, updated_at) VALUES (:conversation, :at)
       ON CONFLICT (conversation) DO UPDATE SET
         begins_after = coalesce((SELECT max(seq) FROM messages WHERE conversation = :conversation), 0),
         messages = 0, updated_at = :at, summary = NULL, summary_to = 0`,
    ),
    setModel: database.prepare(
      `INSERT INTO sessions (conversation, model) VALUES (?, ?)
       ON CONFLICT (conversation) DO UPDATE SET model = excluded.model`,
    ),
    setRatio: database.prepare("UPDATE sessions SET token_ratio = ? WHERE conversation = ?"),
    list: database.prepare(
      `SELECT conversation, messages, updated_at, model, summary IS NOT NULL AS summarised FROM sessions
       ORDER BY updated_at DESC`,
    ),
    // Reads few rows, since each browser has one conversation.
    webChat: database.prepare(
      "SELECT coalesce(sum(messages), 0) AS messages FROM sessions WHERE conversation >= 'web:' AND conversation < 'web;'",
    ),
    totals: database.prepare("SELECT conversations, messages FROM session_totals"),
    // Reads one row for each day since installation, because rows are never removed.
    answered: database.prepare("SELECT coalesce(sum(answered), 0) AS answered FROM message_days"),
    days: database.prepare("SELECT day, received, answered FROM message_days WHERE day >= ? ORDER BY day"),
  };
}
