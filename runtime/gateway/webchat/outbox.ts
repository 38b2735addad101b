import { parseMarkdown } from "../markdown/parse.ts";
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { ChatItem, ToPage } from "../../contract/chat.ts";
import { randomBytes } from "../../process/random.ts";
import type { Actions, Button } from "../actions.ts";
import { sessionOf } from "../channels/channel.ts";
import { PRESS_WORDS } from "../inbox/notices.ts";
import { imageFacts } from "../media/image.ts";
import { digestOf } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";

export const WEB = "web";

/** The first conversation has an empty id. */
export function webSession(device: string, conversation = ""): string {
  const first = sessionOf(WEB, { chat: device });
  return conversation === "" ? first : `${first}:${conversation}`;
}

export function readWebSession(session: string): { device: string; conversation: string } {
  const [, device = "", conversation = ""] = session.split(":");
  return { device, conversation };
}
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum number of earlier files and questions to show. */
const SHOWN = 200;

const ALONE_MS = 7 * 24 * 3_600_000;

type Listener = (message: ToPage) => void;

interface SentFile {
  delivery: string;
  /** Path in the workspace. */
  path: string;
  data: Uint8Array;
  caption?: string | undefined;
}

/** One version of a workspace file, identified by path and digest. */
interface KeptFile {
  path: string;
  digest: string;
  /** Media type of a picture that pages can show; absent for other files. */
  picture?: string;
  size: number;
  caption?: string;
}

interface Question {
  question: string;
  buttons: Button[];
}

interface OutboxOptions {
  database: DatabaseSync;
  actions: Pick<Actions, "stateOf">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/**
 * Sends messages to a device's pages, and stores files and questions for pages that connect later. For a file, stores
 * only path and digest.
 */
export class WebOutbox {
  readonly maxBytes = MAX_BYTES;
  readonly #options: OutboxOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #insert: StatementSync;
  readonly #recent: StatementSync;
  readonly #one: StatementSync;
  readonly #withPress: StatementSync;
  readonly #prune: StatementSync;

  constructor(options: OutboxOptions) {
    const { database } = options;
    this.#options = options;
    database.exec(
      `CREATE TABLE IF NOT EXISTS chat_items (
         seq INTEGER PRIMARY KEY AUTOINCREMENT,
         id TEXT NOT NULL UNIQUE,
         conversation TEXT NOT NULL,
         delivery TEXT NOT NULL,
         kind TEXT NOT NULL CHECK (kind IN ('file', 'choices')),
         content TEXT NOT NULL,
         at INTEGER NOT NULL
       ) STRICT;
       CREATE INDEX IF NOT EXISTS chat_items_by_message ON chat_items (conversation, delivery);
       CREATE TRIGGER IF NOT EXISTS chat_items_removed AFTER DELETE ON messages BEGIN
         DELETE FROM chat_items WHERE conversation = old.conversation AND delivery = old.delivery;
       END;
       CREATE TRIGGER IF NOT EXISTS chat_items_ended AFTER DELETE ON sessions BEGIN
         DELETE FROM chat_items WHERE conversation = old.conversation;
       END`,
    );
    this.#prune = database.prepare("DELETE FROM chat_items WHERE delivery = '' AND at < ?");
    this.#insert = database.prepare(
      "INSERT INTO chat_items (id, conversation, delivery, kind, content, at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#recent = database.prepare(
      `SELECT * FROM chat_items WHERE conversation = ? ORDER BY seq DESC LIMIT ${SHOWN}`,
    );
    this.#one = database.prepare("SELECT * FROM chat_items WHERE id = ?");
    this.#withPress = database.prepare(
      `SELECT * FROM chat_items WHERE conversation >= :first AND conversation < :first || ';'
         AND kind = 'choices' AND instr(content, :press) > 0`,
    );
  }

  /** Returns a function that unregisters the page. */
  listen(device: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(device) ?? new Set();
    this.#listeners.set(device, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(device) === listeners) this.#listeners.delete(device);
    };
  }

  /** Sends a message to all connected pages of the session's device. */
  send(session: string, message: ToPage): void {
    const { device, conversation } = readWebSession(session);
    const told = conversation === "" ? message : { ...message, conversation };
    for (const listener of this.#listeners.get(device) ?? []) listener(told);
  }

  sendFile(session: string, { delivery, path, data, caption }: SentFile): void {
    const picture = imageFacts(data)?.mediaType;
    const file: KeptFile = {
      path,
      digest: digestOf(data),
      ...(picture !== undefined && { picture }),
      size: data.byteLength,
      ...(caption !== undefined && { caption }),
    };
    this.#add(session, delivery, "file", file);
  }

  /**
   * Sends and stores a question with one button per answer. A question that belongs to no message (empty
   * `delivery`) is removed after a week.
   */
  ask(session: string, delivery: string, question: Question): void {
    this.#prune.run(this.#options.clock() - ALONE_MS);
    this.#add(session, delivery, "choices", question);
  }

  /** Resends the question whose button was pressed, because the page may have removed the buttons. */
  refresh(device: string, press: string): void {
    for (const row of this.#withPress.all({ first: webSession(device), press: JSON.stringify(press) }))
      this.send(String(row["conversation"]), this.#item(row));
  }

  /** Oldest first. */
  recent(session: string): ChatItem[] {
    return this.#recent
      .all(session)
      .toReversed()
      .map((row) => this.#item(row));
  }

  /**
   * Returns the version of a file that was sent to the device; `undefined` if the id is unknown or the workspace no
   * longer has that version.
   */
  file(workspace: Workspace, device: string, id: string): { data: Uint8Array; picture?: string } | undefined {
    const row = this.#one.get(id);
    if (row?.["kind"] !== "file" || readWebSession(String(row["conversation"])).device !== device)
      return undefined;
    const { path, digest, picture } = JSON.parse(String(row["content"])) as KeptFile;
    const { root, name } = workspace.find(path);
    let data = root.bytes(name);
    for (const version of root.versions(name)) {
      if (digestOf(data) === digest) break;
      data = root.versionBytes(name, version.id);
    }
    if (data === undefined || digestOf(data) !== digest) return undefined;
    return { data, ...(picture !== undefined && { picture }) };
  }

  #add(session: string, delivery: string, kind: ChatItem["type"], content: KeptFile | Question): void {
    const id = randomBytes(16).toString("base64url");
    const row = { id, delivery, kind, content: JSON.stringify(content) };
    this.#insert.run(id, session, delivery, kind, row.content, this.#options.clock());
    this.send(session, this.#item(row));
  }

  #item({ id, delivery, kind, content }: Record<string, SQLOutputValue>): ChatItem {
    const names = { item: String(id), id: String(delivery) };
    if (kind === "file") {
      const { path, picture, size, caption } = JSON.parse(String(content)) as KeptFile;
      const name = path.split("/").at(-1) ?? path;
      return {
        type: "file",
        ...names,
        name,
        size,
        picture: picture !== undefined,
        ...(caption && { caption }),
      };
    }
    const { question, buttons } = JSON.parse(String(content)) as Question;
    const state = this.#options.actions.stateOf(buttons[0]?.press ?? "");
    const isOpen = state.is === "open";
    const note = state.is === "used" ? `✓ ${state.label}` : isOpen ? "" : PRESS_WORDS.expired;
    const blocks = parseMarkdown(question);
    return {
      type: "choices",
      ...names,
      question,
      blocks,
      buttons: isOpen ? buttons : [],
      ...(note && { note }),
    };
  }
}
