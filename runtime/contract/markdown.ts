/** Parsed Markdown, as the gateway's writers and the chat page get it. `Own` are additional members of each node. */

/** A piece of a line or paragraph. */
export type Inline<Own = unknown> = Own &
  (
    | { kind: "text"; text: string }
    | { kind: "code"; code: string }
    | { kind: "strong" | "emphasis" | "struck"; inside: Inline<Own>[] }
    /** A link or an image; a bare URL has no label. */
    | { kind: "link"; label: Inline<Own>[]; target: string }
  );

/** A list item; `done` is set if it has a checkbox. */
export type Item<Own = unknown> = Own & { done?: boolean; blocks: Block<Own>[] };

/** A block. */
export type Block<Own = unknown> = Own &
  (
    | { kind: "paragraph" | "heading"; inside: Inline<Own>[] }
    /** `start`: the first number of a numbered list. `delimiter`: the character after each number. */
    | { kind: "list"; start?: number; delimiter: string; items: Item<Own>[] }
    | { kind: "quote"; blocks: Block<Own>[] }
    | { kind: "code"; language?: string; code: string }
    | { kind: "table"; head: Inline<Own>[][]; rows: Inline<Own>[][][] }
    | { kind: "break" }
  );
