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

/** Name of the web chat among the platforms. */
export const WEB = "web";
/** A file of the workspace has no more. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Files and questions that a page shows of the conversation before. */
const SHOWN = 200;

const ALONE_MS = 7 * 24 * 3_600_000;

/** Receives the messages to the pages of one device. */
type Listener = (message: ToPage) => void;

/** A file on its way to the pages of a device. */
interface SentFile {
  /** Id of the message that it belongs to. */
  delivery: string;
  /** In the workspace. */
  path: string;
  data: Uint8Array;
  caption?: string | undefined;
}

/** Place of a file that was sent: the workspace's file of that name, or a former version of it, has that digest. */
interface KeptFile {
  path: string;
  digest: string;
  /** One of the four kinds of pictures that pages show; absent for everything else. */
  picture?: string;
  size: number;
  caption?: string;
}

interface Question {
  question: string;
  buttons: Button[];
}

/** Dependencies of the outbox. */
interface OutboxOptions {
  database: DatabaseSync;
  actions: Pick<Actions, "look">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/**
 * Sends messages to the pages of each device, and keeps the files and questions among them, which later pages show, too.
 * Of a file it keeps its name and digest: the workspace has the content.
 */
export class WebOutbox {
  readonly maxBytes = MOST_BYTES;
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
    // Older versions do not know the table, and leave it.
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
    this.#one = database.prepare("SELECT * FROM chat_items WHERE id = ? AND conversation = ?");
    this.#withPress = database.prepare(
      `SELECT * FROM chat_items WHERE conversation = ? AND kind = 'choices' AND instr(content, ?) > 0`,
    );
  }

  /** Sends the messages to a device to a page of it, until the function that is returned is called. */
  listen(device: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(device) ?? new Set();
    this.#listeners.set(device, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(device) === listeners) this.#listeners.delete(device);
    };
  }

  /** Sends a message to the pages that a device has open. */
  tell(device: string, message: ToPage): void {
    for (const listener of this.#listeners.get(device) ?? []) listener(message);
  }

  /** Sends a file of the workspace. */
  sendFile(device: string, { delivery, path, data, caption }: SentFile): void {
    const picture = imageFacts(data)?.mediaType;
    const file: KeptFile = {
      path,
      digest: digestOf(data),
      ...(picture !== undefined && { picture }),
      size: data.byteLength,
      ...(caption !== undefined && { caption }),
    };
    this.#add(device, delivery, "file", file);
  }

  /** Sends a question with a button for each answer. One that belongs to no message (an empty `delivery`) stays a week. */
  ask(device: string, delivery: string, question: Question): void {
    this.#prune.run(this.#options.clock() - ALONE_MS);
    this.#add(device, delivery, "choices", question);
  }

  /** Sends a question again, whose buttons have changed, by one of them. */
  refresh(device: string, press: string): void {
    for (const row of this.#withPress.all(sessionOf(WEB, { chat: device }), JSON.stringify(press)))
      this.tell(device, this.#item(row));
  }

  /** Returns the last files and questions of a device, oldest first. */
  recent(device: string): ChatItem[] {
    const rows = this.#recent.all(sessionOf(WEB, { chat: device })).toReversed();
    return rows.map((row) => this.#item(row));
  }

  /**
   * Returns a file that was sent to a device, as it was then. `undefined`: there is none of this id, or its content is
   * gone from the workspace and from its versions.
   */
  file(workspace: Workspace, device: string, id: string): { data: Uint8Array; picture?: string } | undefined {
    const row = this.#one.get(id, sessionOf(WEB, { chat: device }));
    if (row?.["kind"] !== "file") return undefined;
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

  #add(device: string, delivery: string, kind: ChatItem["type"], content: KeptFile | Question): void {
    const id = randomBytes(16).toString("base64url");
    const session = sessionOf(WEB, { chat: device });
    const row = { id, delivery, kind, content: JSON.stringify(content) };
    this.#insert.run(id, session, delivery, kind, row.content, this.#options.clock());
    this.tell(device, this.#item(row));
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
    const state = this.#options.actions.look(buttons[0]?.press ?? "");
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
