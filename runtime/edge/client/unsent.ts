/** Messages of this browser that are not answered yet, and the files of its latest ones; kept across a reload. */

/** A file that the user adds to a message. */
export interface AddedFile {
  name: string;
  mediaType: string;
  /** In base64. */
  data: string;
  /** Scaled and sent as a picture, which has no name. */
  isPicture: boolean;
}

/** A message written on this page. */
export interface Said {
  text: string;
  files: readonly AddedFile[];
  /** Empty for the first one. */
  conversation: string;
  /** Id of the message that it replaces. */
  instead?: string | undefined;
}

/** A message in this browser's store. `answered`: kept for its files alone. */
export interface StoredMessage extends Said {
  id: string;
  at: number;
  state: "unsent" | "withdrawn" | "answered";
}

/** Not the database of the device's key: pages of earlier versions open that one by its first version. */
const DATABASE = "steward-chat-messages";
const STORE = "messages";
/** Storage key of earlier versions, for each tab. */
const FORMER = "steward-chat-unanswered";
/** Number of answered messages whose files are kept. */
const MOST_ANSWERED = 20;

/** The messages, in memory and in IndexedDB. Without the latter, they are lost by a reload. */
export class Messages {
  readonly #messages = new Map<string, StoredMessage>();
  #database: IDBDatabase | undefined;

  /** Reads what an earlier page has stored. */
  async open(): Promise<void> {
    this.#database = await openDatabase().catch(() => undefined);
    const request = this.#store("readonly")?.getAll();
    const stored = request === undefined ? [] : await result<StoredMessage[]>(request).catch(() => []);
    for (const one of stored.toSorted((a, b) => a.at - b.at)) this.#messages.set(one.id, one);
    const former: [string, { text: string }][] = JSON.parse(sessionStorage.getItem(FORMER) ?? "[]");
    for (const [id, { text }] of former) this.put(id, { text, files: [], conversation: "" });
    sessionStorage.removeItem(FORMER);
  }

  /** Returns the unanswered messages, oldest first; those of one conversation if it is given. */
  unsent(conversation?: string): StoredMessage[] {
    return this.#all("unsent").filter(
      (one) => conversation === undefined || one.conversation === conversation,
    );
  }

  /** Returns the messages that were withdrawn while the page was not connected. */
  withdrawn(): StoredMessage[] {
    return this.#all("withdrawn");
  }

  /** Returns a message with its files, answered or not. */
  get(id: string): StoredMessage | undefined {
    return this.#messages.get(id);
  }

  /** Stores a message until it is answered. */
  put(id: string, said: Said): void {
    this.#set({ ...said, id, at: Date.now(), state: "unsent" });
  }

  /** Marks a message to be withdrawn on the next connection. */
  withdraw(id: string): void {
    const known = this.#messages.get(id);
    if (known !== undefined) this.#set({ ...known, state: "withdrawn" });
  }

  /** Records that a message has an answer. Its files are kept for a while. */
  answer(id: string): void {
    const known = this.#messages.get(id);
    if (known === undefined) return;
    if (known.files.length === 0) return this.delete(id);
    this.#set({ ...known, state: "answered" });
    for (const { id: old } of this.#all("answered").slice(0, -MOST_ANSWERED)) this.delete(old);
  }

  delete(id: string): void {
    this.#messages.delete(id);
    this.#store("readwrite")?.delete(id);
  }

  #all(state: StoredMessage["state"]): StoredMessage[] {
    return [...this.#messages.values()].filter((one) => one.state === state);
  }

  #set(message: StoredMessage): void {
    this.#messages.set(message.id, message);
    this.#store("readwrite")?.put(message);
  }

  #store(mode: IDBTransactionMode): IDBObjectStore | undefined {
    try {
      return this.#database?.transaction(STORE, mode).objectStore(STORE);
    } catch {
      // The browser has closed the database.
      return undefined;
    }
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const open = indexedDB.open(DATABASE, 1);
  open.addEventListener("upgradeneeded", () => open.result.createObjectStore(STORE, { keyPath: "id" }));
  return result(open);
}

/** Resolves with the result of a request. */
export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
