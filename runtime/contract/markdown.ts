/**
 * Markdown that was read, as the gateway's writers and the chat page get it. `Own` is what each node has beside its kind.
 */

/** A piece of a line or paragraph. */
export type Inline<Own = unknown> = Own &
  (
    | { kind: "text"; text: string }
    | { kind: "code"; code: string }
    | { kind: "strong" | "emphasis" | "struck"; inside: Inline<Own>[] }
    /** A link or an image; a bare address has no label. */
    | { kind: "link"; label: Inline<Own>[]; target: string }
  );

/** An item of a list; `done` is there for one with a box. */
export type Item<Own = unknown> = Own & { done?: boolean; blocks: Block<Own>[] };

/** A block. */
export type Block<Own = unknown> = Own &
  (
    | { kind: "paragraph" | "heading"; inside: Inline<Own>[] }
    /** `start`: the first number of a numbered list, `delimiter` the sign behind each. */
    | { kind: "list"; start?: number; delimiter: string; items: Item<Own>[] }
    | { kind: "quote"; blocks: Block<Own>[] }
    | { kind: "code"; language?: string; code: string }
    | { kind: "table"; head: Inline<Own>[][]; rows: Inline<Own>[][][] }
    | { kind: "break" }
  );
