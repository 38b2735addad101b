/** Parsed Markdown, for the gateway's formatters and the chat page. `Own` adds members to every node. */

export type Inline<Own = unknown> = Own &
  (
    | { kind: "text"; text: string }
    | { kind: "code"; code: string }
    | { kind: "strong" | "emphasis" | "struck"; inside: Inline<Own>[] }
    /** A link or an image; a bare URL has no label. */
    | { kind: "link"; label: Inline<Own>[]; target: string }
  );

/** A list item; `done` is set only if it has a checkbox. */
export type Item<Own = unknown> = Own & { done?: boolean; blocks: Block<Own>[] };

export type Block<Own = unknown> = Own &
  (
    | { kind: "paragraph" | "heading"; inside: Inline<Own>[] }
    /**
     * `start`: the first number; absent in a bulleted list. `delimiter`: the character after each number; unused in a
     * bulleted list.
     */
    | { kind: "list"; start?: number; delimiter: string; items: Item<Own>[] }
    | { kind: "quote"; blocks: Block<Own>[] }
    | { kind: "code"; language?: string; code: string }
    | { kind: "table"; head: Inline<Own>[][]; rows: Inline<Own>[][][] }
    | { kind: "break" }
  );
