import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import { deleteConversation } from "../sessions/retention.ts";
import { Sessions } from "../sessions/store.ts";
import { openStore } from "../store.ts";
import type { CommandContext, JsonOption } from "./context.ts";
import { readRows } from "./records.ts";

const MOST_SESSIONS = 1_000;
const MOST_MESSAGES = 50;
/** A long message is not shown in full. */
const LONGEST_TEXT = 2_000;
const SESSIONS = `SELECT conversation, count(*) AS messages, max(at) AS last_at FROM messages
  GROUP BY conversation ORDER BY last_at DESC LIMIT ${MOST_SESSIONS}`;
const SESSION = `SELECT sessions.*, (SELECT count(*) FROM messages WHERE conversation = ?1) AS kept,
  (SELECT min(at) FROM messages WHERE conversation = ?1) AS first_at
  FROM sessions WHERE conversation = ?1`;
const MESSAGES = `SELECT role, sender, name, text, length(text) AS length, at FROM messages
  WHERE conversation = ? ORDER BY seq DESC LIMIT ${MOST_MESSAGES}`;

/** `steward sessions list|show|messages|reset|delete`. A running gateway reads the same tables for each answer. */
export function addSessionCommands(program: Command, context: CommandContext): void {
  const sessions = program.command("sessions").description("conversations with their models and sizes");
  const onConversation = (name: string, description: string, act: (conversation: string) => Answer): void =>
    void sessions
      .command(name)
      .description(description)
      .argument("<conversation>", "as `list` shows it")
      .option("--json", "as JSON")
      .action((conversation: string, { json }: JsonOption) => {
        const { value, text } = act(conversation);
        context.output.answer(json, value, text);
      });
  sessions
    .command("list")
    .description(`lists the latest ${MOST_SESSIONS} conversations, newest first`)
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const { value, text } = listSessions(context);
      context.output.answer(json, value, text);
    });
  onConversation("show", "tells a conversation's size, age and model, and nothing that was said", (name) =>
    showSession(context, name),
  );
  onConversation("messages", `shows the last ${MOST_MESSAGES} messages of a conversation`, (name) =>
    showMessages(context, name),
  );
  onConversation(
    "reset",
    "starts a conversation over, as /new does in the chat; its messages are kept",
    (name) => {
      change(context, (store) => store.reset(name, context.clock()), name);
      return { value: { reset: name }, text: `Started ${name} over.` };
    },
  );
  onConversation(
    "delete",
    "removes a conversation and all its messages; backups that hold them keep them",
    (name) => {
      const messages = change(context, (_, database) => deleteConversation(database, name), name);
      return { value: { deleted: name, messages }, text: `Deleted ${name} with ${messages} messages.` };
    },
  );
}

/** Answer of a command. */
interface Answer {
  value: unknown;
  text: string;
}

function listSessions(context: CommandContext): Answer {
  const rows = readRows(context, "messages", SESSIONS).map((row) => ({
    conversation: String(row["conversation"]),
    messages: Number(row["messages"]),
    lastAt: time(row["last_at"]),
  }));
  const cells = rows.map(({ conversation, messages, lastAt }) => [conversation, String(messages), lastAt]);
  const text = table(["Conversation", "Messages", "Last"], cells);
  return { value: { sessions: rows }, text: rows.length === 0 ? "No conversations." : text };
}

function showSession(context: CommandContext, conversation: string): Answer {
  const row = readSession(context, conversation);
  const session = {
    conversation,
    messages: Number(row["kept"]),
    inUse: Number(row["messages"]),
    ...(row["first_at"] !== null && { firstAt: time(row["first_at"]) }),
    ...(row["updated_at"] !== null && { lastAt: time(row["updated_at"]) }),
    ...(row["model"] !== null && { model: String(row["model"]) }),
    summarised: row["summary"] !== null,
  };
  const lines = Object.entries(session).map(([name, value]) => [name, String(value)]);
  return { value: session, text: table(["Field", "Value"], lines) };
}

function showMessages(context: CommandContext, conversation: string): Answer {
  readSession(context, conversation);
  const messages = readRows(context, "messages", MESSAGES, conversation)
    .toReversed()
    .map((row) => ({
      at: time(row["at"]),
      from: row["role"] === "user" ? String(row["name"] ?? row["sender"] ?? "user") : "steward",
      text: shortened(String(row["text"])),
    }));
  // Names stand in one line, and a message's further lines are indented: none looks like another message.
  const lines = messages.map(({ at, from, text: said }) => {
    const name = from.replace(/\s+/g, " ");
    return `${at} ${name}: ${said.replaceAll("\n", "\n  ")}`;
  });
  const text = lines.join("\n");
  return { value: { conversation, messages }, text: messages.length === 0 ? "No messages." : text };
}

/** @throws StewardError `session_unknown` */
function readSession(context: CommandContext, conversation: string) {
  const [row] = readRows(context, "sessions", SESSION, conversation);
  if (row === undefined) throw new StewardError("session_unknown");
  return row;
}

/** Changes a conversation that is there. */
function change<T>(
  { settings }: CommandContext,
  act: (store: Sessions, database: ReturnType<typeof openStore>) => T,
  conversation: string,
): T {
  const file = join(settings.home, "state.db");
  if (!existsSync(file)) throw new StewardError("session_unknown");
  using database = openStore(file);
  const store = new Sessions(database);
  if (store.updatedAt(conversation) === undefined) throw new StewardError("session_unknown");
  return act(store, database);
}

function time(milliseconds: unknown): string {
  return new Date(Number(milliseconds)).toISOString();
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…` : text;
}
