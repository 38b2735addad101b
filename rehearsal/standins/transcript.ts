/** Maximum number of messages; older ones are dropped. */
const MOST = 300;

export interface ShownMessage {
  /** Heading of the chat that contains the message. */
  place: string;
  author: string;
  fromBot: boolean;
  text: string;
  /** Id of the message, by which buttons, reactions and replies refer to it. */
  id: string;
  /** Id of the first message in the thread. */
  thread?: string | undefined;
  /** True if the page offers to reply in a thread. */
  startsThread?: boolean;
  edits?: number;
  files?: readonly string[];
  buttons?: readonly string[];
  /** Remark about the message, such as who can see it. */
  note?: string | undefined;
}

/** Messages in a stand-in's chats, in order of arrival. */
export class PageTranscript {
  #entries: (() => ShownMessage | undefined)[] = [];
  readonly #reactions = new Map<string, string[]>();
  #version = 0;
  #wake = Promise.withResolvers<void>();

  /** Increases with each change. */
  get version(): number {
    return this.#version;
  }

  /**
   * Adds a message. `render` runs at every display, so that edits appear; it returns `undefined` to hide the message.
   */
  add(render: () => ShownMessage | undefined): void {
    this.#entries = [...this.#entries, render].slice(-MOST);
    this.changed();
  }

  react(id: string, reaction: string): void {
    this.#reactions.set(id, [...(this.#reactions.get(id) ?? []), reaction]);
    this.changed();
  }

  reactionsOf(id: string): readonly string[] {
    return this.#reactions.get(id) ?? [];
  }

  changed(): void {
    this.#version += 1;
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  async after(version: number): Promise<void> {
    while (this.#version <= version) await this.#wake.promise;
  }

  messages(): ShownMessage[] {
    return this.#entries.flatMap((render) => render() ?? []);
  }
}
