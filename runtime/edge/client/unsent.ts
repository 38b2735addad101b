export interface AddedFile {
  name: string;
  mediaType: string;
  /** Base64. */
  data: string;
  /** True for a picture, which is scaled and sent without its name. */
  isPicture: boolean;
}

export interface Said {
  text: string;
  files: readonly AddedFile[];
  /** Empty for the first conversation. */
  conversation: string;
  /** Id of the message to replace. */
  instead?: string | undefined;
}

/**
 * Returns a conversation's id as a field. Omits the field for the first conversation, because older gateways reject
 * it.
 */
export const inConversation = (id: string): { conversation?: string } =>
  id === "" ? {} : { conversation: id };

/** A message that survives a reload. An answered message is stored only to keep its files. */
export interface StoredMessage extends Said {
  id: string;
  at: number;
  state: "unsent" | "withdrawn" | "answered";
}

/**
 * IndexedDB database of the messages. It is separate from the device key's database. Adding a store to that database
 * would raise its version, and pages still running older code could then no longer open it.
 */
const STORE = { database: "steward-chat-messages", store: "messages", keyPath: "id" };
/** Session storage key of earlier versions. */
const FORMER = "steward-chat-unanswered";
/** Number of answered messages whose files are retained. */
const MAX_ANSWERED = 20;

/** Messages in memory and in IndexedDB. Without IndexedDB, a reload loses them. */
class Messages {
  readonly #messages = new Map<string, StoredMessage>();
  #database: IDBDatabase | undefined;

  async open(): Promise<void> {
    this.#database = await openDatabase(STORE).catch(() => undefined);
    const request: IDBRequest<StoredMessage[]> | undefined = this.#store("readonly")?.getAll();
    const stored = request && (await result(request).catch(() => undefined));
    for (const one of (stored ?? []).toSorted((a, b) => a.at - b.at)) this.#messages.set(one.id, one);
    const former: [string, { text: string }][] = JSON.parse(sessionStorage.getItem(FORMER) ?? "[]");
    for (const [id, { text }] of former) this.put(id, { text, files: [], conversation: "" });
    sessionStorage.removeItem(FORMER);
  }

  unsent(conversation?: string): StoredMessage[] {
    return this.#all("unsent").filter(
      (one) => conversation === undefined || one.conversation === conversation,
    );
  }

  /** Returns messages that were withdrawn while disconnected. */
  withdrawn(): StoredMessage[] {
    return this.#all("withdrawn");
  }

  get(id: string): StoredMessage | undefined {
    return this.#messages.get(id);
  }

  filesOf(id: string): readonly AddedFile[] {
    return this.get(id)?.files ?? [];
  }

  put(id: string, said: Said): void {
    this.#set({ ...said, id, at: Date.now(), state: "unsent" });
  }

  /** Marks a message for withdrawal on the next connection. */
  withdraw(id: string): void {
    const known = this.#messages.get(id);
    if (known !== undefined) this.#set({ ...known, state: "withdrawn" });
  }

  /** Marks a message as answered. Only the latest answered messages and their files are retained. */
  answer(id: string): void {
    const known = this.#messages.get(id);
    if (known === undefined) return;
    if (known.files.length === 0) return this.delete(id);
    this.#set({ ...known, state: "answered" });
    for (const { id: old } of this.#all("answered").slice(0, -MAX_ANSWERED)) this.delete(old);
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

export const messages = new Messages();

interface Store extends IDBObjectStoreParameters {
  database: string;
  store: string;
}

export function openDatabase({ database, store, ...parameters }: Store): Promise<IDBDatabase> {
  const open = indexedDB.open(database, 1);
  open.addEventListener("upgradeneeded", () => open.result.createObjectStore(store, parameters));
  return result(open);
}

export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
