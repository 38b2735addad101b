/** Older messages are dropped. */
const MOST = 300;

export interface ShownMessage {
  /** Heading of its chat. */
  place: string;
  author: string;
  fromBot: boolean;
  text: string;
  /** Identifies the message for buttons, reactions and replies. */
  id: string;
  /** Id of the first message of its thread. */
  thread?: string | undefined;
  /** True if the page offers a reply in its thread. */
  startsThread?: boolean;
  edits?: number;
  files?: readonly string[];
  buttons?: readonly string[];
  /** A remark, such as who can see the message. */
  note?: string | undefined;
}

/** Messages of a stand-in's chats, in order of arrival. */
export class PageTranscript {
  #entries: (() => ShownMessage | undefined)[] = [];
  readonly #reactions = new Map<string, string[]>();
  #version = 0;
  #wake = Promise.withResolvers<void>();

  /** Increases with each change. */
  get version(): number {
    return this.#version;
  }

  /** Calls `render` for each display, so that edits appear; `undefined` hides the message. */
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
