/** Messages that a page shows; older ones are dropped. */
const MOST = 300;

/** A message as a stand-in's page shows it. */
export interface ShownMessage {
  /** Heading of its chat. */
  place: string;
  author: string;
  fromBot: boolean;
  text: string;
  /** Names the message for buttons, reactions and replies. */
  id: string;
  /** Id of the first message of its thread. */
  thread?: string | undefined;
  /** The page offers to reply in its thread. */
  startsThread?: boolean;
  /** Number of edits by its author. */
  edits?: number;
  /** Names of its files. */
  files?: readonly string[];
  /** Labels of the buttons below it. */
  buttons?: readonly string[];
  /** A remark, such as who can see the message. */
  note?: string | undefined;
}

/** Both sides of a stand-in's chats, in the order in which the messages came. */
export class PageTranscript {
  #entries: (() => ShownMessage | undefined)[] = [];
  readonly #reactions = new Map<string, string[]>();
  #version = 0;
  #wake = Promise.withResolvers<void>();

  /** Increases with each change. */
  get version(): number {
    return this.#version;
  }

  /** Adds a message. It is rendered when it is shown, so that it shows its edits; `undefined` hides it. */
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

  /** Reports that a message looks different. */
  changed(): void {
    this.#version += 1;
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** Resolves once the transcript is newer than this version. */
  async after(version: number): Promise<void> {
    while (this.#version <= version) await this.#wake.promise;
  }

  messages(): ShownMessage[] {
    return this.#entries.flatMap((render) => render() ?? []);
  }
}
