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

/** Returns the field that names a conversation. Gateways of earlier versions have one only, and refuse the field. */
export const inConversation = (id: string): { conversation?: string } =>
  id === "" ? {} : { conversation: id };

/** A message in this browser's store. `answered`: kept for its files alone. */
export interface StoredMessage extends Said {
  id: string;
  at: number;
  state: "unsent" | "withdrawn" | "answered";
}

/** Not the database of the device's key: pages of earlier versions open that one by its first version. */
const STORE = { database: "steward-chat-messages", store: "messages", keyPath: "id" };
/** Storage key of earlier versions, for each tab. */
const FORMER = "steward-chat-unanswered";
/** Number of answered messages whose files are kept. */
const MOST_ANSWERED = 20;

/** The messages, in memory and in IndexedDB. Without the latter, they are lost by a reload. */
class Messages {
  readonly #messages = new Map<string, StoredMessage>();
  #database: IDBDatabase | undefined;

  /** Reads what an earlier page has stored. */
  async open(): Promise<void> {
    this.#database = await openDatabase(STORE).catch(() => undefined);
    const request: IDBRequest<StoredMessage[]> | undefined = this.#store("readonly")?.getAll();
    const stored = request && (await result(request).catch(() => undefined));
    for (const one of (stored ?? []).toSorted((a, b) => a.at - b.at)) this.#messages.set(one.id, one);
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

  /** Returns the files of a message, if this browser has them. */
  filesOf(id: string): readonly AddedFile[] {
    return this.get(id)?.files ?? [];
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
      return this.#database?.transaction(STORE.store, mode).objectStore(STORE.store);
    } catch {
      // The browser has closed the database.
      return undefined;
    }
  }
}

/** The messages of this browser. */
export const messages = new Messages();

/** Names of a database and its only store. */
interface Store extends IDBObjectStoreParameters {
  database: string;
  store: string;
}

/** Opens a database of this browser, and creates it if it is missing. */
export function openDatabase({ database, store, ...parameters }: Store): Promise<IDBDatabase> {
  const open = indexedDB.open(database, 1);
  open.addEventListener("upgradeneeded", () => open.result.createObjectStore(store, parameters));
  return result(open);
}

/** Resolves with the result of a request. */
export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
