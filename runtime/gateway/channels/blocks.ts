import type { Inbound, ReplyTarget } from "../../contract/message.ts";

/**
 * Extracts text from nested blocks: Telegram's rich messages and Slack's Block Kit. Relies only on what both formats
 * share, so it keeps the text of unknown block types. Takes linear time.
 */

/** Maximum nesting depth; deeper content is omitted. */
const DEEPEST = 64;
/** Keys that hold a block's visible content, in display order. */
const INLINE_KEYS = ["text", "content", "alt_text"] as const;
const BLOCK_KEYS = [
  "title",
  "blocks",
  "elements",
  "items",
  "rows",
  "cells",
  "children",
  "fields",
  "caption",
] as const;

type Node = Readonly<Record<string, unknown>>;

const UNREADABLE_TEXT =
  "I could not read that kind of message. Please send it as text, or as a picture or file.";

export function unreadableMessage(target: ReplyTarget): Inbound {
  return { kind: "refused", target, text: UNREADABLE_TEXT, note: "a message of a kind that cannot be read" };
}

/** Marks a parsed message as an edit. Replaces a refusal with `ignored`, so that the sender gets no second notice. */
export function asEdit(inbound: Inbound): Inbound {
  switch (inbound.kind) {
    case "message":
    case "context": {
      // Do not wait for more parts: all parts of the original message have arrived.
      const { continues: _, ...content } = inbound;
      return { ...content, edited: true };
    }
    case "refused":
    case "unpaired":
      return { kind: "ignored", note: `edit: ${inbound.note}` };
    default:
      return inbound;
  }
}

/** Returns the blocks' text, one line per block, with headings, lists, tables, quotes and code as Markdown. */
export function textOfBlocks(blocks: unknown): string {
  return lines(blocks, 0).join("\n").trim();
}

function lines(value: unknown, depth: number): string[] {
  if (depth > DEEPEST) return [];
  if (typeof value === "string") return value === "" ? [] : [value];
  if (Array.isArray(value)) {
    const isInline = value.length > 0 && value.every((item) => typeof item === "string" || isRun(item));
    if (isInline) return lines(inline(value, depth), depth);
    return value.flatMap((item) => lines(item, depth + 1));
  }
  if (!isNode(value)) return [];
  const kind = kindOf(value);
  if (kind.includes("table")) return rowsOf(value).map((row) => `| ${cells(row, depth + 1).join(" | ")} |`);
  // Handle lists before `insideOf`: reading the content twice at each level would take exponential time.
  if (kind.includes("list")) return itemsOf(value).flatMap((item, at) => bullet(item, at, value, depth + 1));
  const inside = insideOf(value, depth);
  if (/head|title/.test(kind)) return inside.map((line) => `# ${line}`);
  if (kind.includes("quote")) return inside.map((line) => `> ${line}`);
  if (/^(?:rich_text_)?pre|code|preformatted/.test(kind)) return ["```", ...inside, "```"];
  return inside;
}

function insideOf(node: Node, depth: number): string[] {
  const own = INLINE_KEYS.map((key) => inline(node[key], depth + 1)).filter((text) => text !== "");
  const address = addressOf(node, own.join(" "));
  const below = BLOCK_KEYS.flatMap((key) => lines(node[key], depth + 1));
  return [...own, ...(address === "" ? [] : [address]), ...below];
}

function bullet(item: unknown, at: number, list: Node, depth: number): string[] {
  const ordered = list["ordered"] === true || list["style"] === "ordered";
  const [first = "", ...rest] = lines(item, depth);
  return [`${ordered ? `${at + 1}.` : "-"} ${first}`, ...rest.map((line) => `  ${line}`)];
}

function itemsOf(list: Node): readonly unknown[] {
  const items = list["items"] ?? list["elements"] ?? list["children"];
  return Array.isArray(items) ? items : [];
}

function rowsOf(table: Node): readonly unknown[] {
  const rows = table["rows"] ?? table["cells"];
  return Array.isArray(rows) ? rows : [];
}

function cells(row: unknown, depth: number): string[] {
  const list = isNode(row) ? (row["cells"] ?? row["columns"] ?? row["text"]) : row;
  if (!Array.isArray(list)) return [lines(list, depth).join(" ")];
  return list.map((cell) => lines(cell, depth).join(" "));
}

function inline(value: unknown, depth: number): string {
  if (depth > DEEPEST) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item) => inline(item, depth + 1)).join("");
  if (!isNode(value)) return "";
  if (kindOf(value) === "emoji" && typeof value["name"] === "string") return `:${value["name"]}:`;
  const { user_id: user, channel_id: channel } = value;
  if (typeof user === "string") return `<@${user}>`;
  if (typeof channel === "string") return `<#${channel}>`;
  const own = [...INLINE_KEYS, ...BLOCK_KEYS].map((key) => inline(value[key], depth + 1)).join("");
  const address = addressOf(value, own);
  if (address === "") return own;
  return own === "" ? address : `${own} (${address})`;
}

function addressOf(node: Node, shown: string): string {
  const address = node["url"] ?? node["href"];
  return typeof address === "string" && address !== shown ? address : "";
}

function isRun(value: unknown): boolean {
  if (!isNode(value)) return false;
  const kind = kindOf(value);
  const isBlock = /block|section|paragraph|head|title|list|item|table|row|quote|pre|divider|image/.test(kind);
  return !isBlock && !BLOCK_KEYS.some((key) => key in value);
}

/** Returns a block's type. Ignores values other than strings, because converting a nested value can be expensive. */
function kindOf({ type }: Node): string {
  return typeof type === "string" ? type.toLowerCase() : "";
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
