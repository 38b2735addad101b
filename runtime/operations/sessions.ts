import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import { table } from "../shared/table.ts";
import { always, argument, EVERYWHERE, operation, option, type OperationTools } from "./operation.ts";

const MAX_SESSIONS = 1_000;
const MAX_MESSAGES = 50;
/** Characters. Longer messages are shortened. */
const LONGEST_TEXT = 2_000;
const SESSIONS = `SELECT conversation, count(*) AS messages, max(at) AS last_at,
    iif(min(sender) = max(sender), max(name), NULL) AS name FROM messages
  GROUP BY conversation ORDER BY last_at DESC LIMIT ${MAX_SESSIONS}`;
const SESSION = `SELECT sessions.*, (SELECT count(*) FROM messages WHERE conversation = ?1) AS kept,
  (SELECT min(at) FROM messages WHERE conversation = ?1) AS first_at
  FROM sessions WHERE conversation = ?1`;
const MESSAGES = `SELECT role, sender, name, text, at FROM messages
  WHERE conversation = ? ORDER BY seq DESC LIMIT ${MAX_MESSAGES}`;

/** Maximum size of one export, in bytes of JSON. A larger message is exported alone. */
const EXPORT_BYTES = 128 * 1024;
const EXPORTED = `SELECT seq, role, sender, name, text, at, last FROM (
    SELECT *, sum(length(text)) OVER (ORDER BY seq) AS characters, max(seq) OVER () AS last FROM messages
    WHERE conversation = ?1 AND seq > ?2
  ) WHERE characters - length(text) < ?3 ORDER BY seq`;

const conversation = () => z.strictObject({ conversation: argument(z.string(), "as `list` shows it") });
const message = () => z.object({ at: z.iso.datetime(), from: z.string(), text: z.string() });

/** Operations of `steward sessions`. Changes take effect at the gateway's next answer. */
export const sessions = {
  list: operation({
    name: "sessions list",
    summary: `lists the latest ${MAX_SESSIONS} conversations, newest first`,
    rights: EVERYWHERE,
    output: () =>
      z.object({
        sessions: z.array(
          z.object({
            conversation: z.string(),
            /** Present if only one person wrote. */
            name: z.optional(z.string()),
            messages: z.int(),
            lastAt: z.iso.datetime(),
          }),
        ),
      }),
    async run(tools) {
      const rows = await tools.rows("messages", SESSIONS);
      return { sessions: rows.map(listedSession) };
    },
    keys: ({ sessions: rows }) => rows.map(({ conversation }) => conversation),
    text: ({ sessions: rows }, _, names) =>
      rows.length === 0
        ? "No conversations."
        : table(
            ["Name", "Conversation", "Messages", "Last"],
            rows.map(({ conversation, name = "", messages, lastAt }) => [
              names?.get(conversation) ?? name,
              conversation,
              String(messages),
              lastAt,
            ]),
          ),
  }),
  show: operation({
    name: "sessions show",
    summary: "shows a conversation's size, age and model, but no messages",
    rights: EVERYWHERE,
    input: conversation,
    output: () =>
      z.object({
        conversation: z.string(),
        messages: z.int(),
        inUse: z.int(),
        firstAt: z.optional(z.iso.datetime()),
        lastAt: z.optional(z.iso.datetime()),
        model: z.optional(z.string()),
        summarised: z.boolean(),
      }),
    async run(tools, { conversation }) {
      const row = await known(tools, conversation);
      return {
        conversation,
        messages: Number(row["kept"]),
        inUse: Number(row["messages"]),
        ...(row["first_at"] !== null && { firstAt: time(row["first_at"]) }),
        ...(row["updated_at"] !== null && { lastAt: time(row["updated_at"]) }),
        ...(row["model"] !== null && { model: String(row["model"]) }),
        summarised: row["summary"] !== null,
      };
    },
    text: (session) =>
      table(
        ["Field", "Value"],
        Object.entries(session).map(([name, value]) => [name, String(value)]),
      ),
  }),
  messages: operation({
    name: "sessions messages",
    summary: `shows the last ${MAX_MESSAGES} messages of a conversation`,
    rights: EVERYWHERE,
    input: conversation,
    output: () => z.object({ messages: z.array(message()) }),
    changes: always,
    async run(tools, { conversation }) {
      await known(tools, conversation);
      const rows = await tools.rows("messages", MESSAGES, conversation);
      const messages = rows.toReversed().map((row) => ({
        at: time(row["at"]),
        from: row["role"] === "user" ? String(row["name"] ?? row["sender"] ?? "user") : "steward",
        text: shortened(String(row["text"])),
      }));
      return { conversation, messages };
    },
    // Prevent a message from imitating another one: put names on one line and indent continuation lines.
    text: ({ messages }) =>
      messages
        .map(({ at, from, text }) => {
          return `${at} ${from.replace(/\s+/g, " ")}: ${text.replaceAll("\n", "\n  ")}`;
        })
        .join("\n") || "No messages.",
  }),
  export: operation({
    name: "sessions export",
    summary: `prints the messages of a conversation in full, oldest first, up to ${EXPORT_BYTES / 1024} KiB at a time`,
    rights: EVERYWHERE,
    input: () =>
      z.extend(conversation(), {
        after: option(
          z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
          "continue after this message",
          "seq",
        ),
      }),
    changes: always,
    async run(tools, { conversation, after = "0" }) {
      await known(tools, conversation);
      const rows = await tools.rows("messages", EXPORTED, conversation, after, EXPORT_BYTES);
      const messages: { seq: number }[] = [];
      let bytes = 0;
      for (const { last: _, at, ...row } of rows) {
        const message = { ...row, seq: Number(row["seq"]), at: time(at) };
        bytes += new TextEncoder().encode(JSON.stringify(message)).length;
        if (bytes > EXPORT_BYTES && messages.length > 0) break;
        messages.push(message);
      }
      const next = messages.at(-1)?.seq;
      return { conversation, messages, ...(next !== undefined && next !== rows[0]?.["last"] && { next }) };
    },
    text: ({ messages }) => messages.map((message) => JSON.stringify(message)).join("\n"),
    warnings: ({ next }) => (next === undefined ? [] : [`There are more messages: --after ${next}`]),
  }),
  reset: operation({
    name: "sessions reset",
    summary: "starts a conversation over, as /new does in the chat; its messages stay stored",
    rights: EVERYWHERE,
    input: conversation,
    changes: always,
    async run(tools, { conversation }) {
      const isReset = await tools.sessions((store) => {
        if (store.updatedAt(conversation) === undefined) return undefined;
        store.reset(conversation, tools.clock());
        return true;
      });
      if (isReset === undefined) throw new StewardError("session_unknown");
      return { reset: conversation };
    },
    text: ({ reset }) => `Started ${reset} over.`,
  }),
  delete: operation({
    name: "sessions delete",
    summary: "removes a conversation and all its messages; existing backups still contain them",
    rights: EVERYWHERE,
    input: conversation,
    changes: always,
    async run(tools, { conversation }) {
      const messages = await tools.sessions((store, remove) =>
        store.updatedAt(conversation) === undefined ? undefined : remove(conversation),
      );
      if (messages === undefined) throw new StewardError("session_unknown");
      return { deleted: conversation, messages };
    },
    text: ({ deleted, messages }) => `Deleted ${deleted} with ${messages} messages.`,
  }),
};

function listedSession({ conversation, name, messages, last_at: lastAt }: Record<string, unknown>) {
  return {
    conversation: String(conversation),
    ...(name !== null && { name: String(name) }),
    messages: Number(messages),
    lastAt: time(lastAt),
  };
}

async function known(tools: OperationTools, conversation: string) {
  const [row] = await tools.rows("sessions", SESSION, conversation);
  if (row === undefined) throw new StewardError("session_unknown");
  return row;
}

function time(milliseconds: unknown): string {
  return new Date(Number(milliseconds)).toISOString();
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…` : text;
}
