/**
 * Text by its trust, and the only ways in which it becomes a part of a prompt.
 *
 * Column zero belongs to the gateway: in what a model reads, a line that begins there is the gateway's own or the
 * operator's. Every line of anyone else's text follows a mark on the gateway's line or is indented by four spaces, so
 * that its headings, fences, names and marks stay inside of that text. Except a text that is a message or a tool's
 * result of its own: see {@link unmarked}.
 */

declare const trust: unique symbol;
declare const built: unique symbol;
type Text<Level> = string & { readonly [trust]: Level };

/** Written by the operator: config, `AGENTS.md`, `SOUL.md`, `USER.md`. Made by `operatorText` alone. */
export type OperatorText = Text<"operator">;
/** Notes kept from conversations: a `MEMORY.md`. */
export type MemoryText = Text<"memory">;
/** Written by somebody in a chat, or by a program that asks as one. */
export type SpeakerText = Text<"speaker">;
/** Outcome of a tool: a page, a file, an answer of an MCP server, an error. */
export type ToolText = Text<"tool">;
/** Written by the model: an answer or a summary, which may repeat what others wrote. */
export type ModelText = Text<"model">;

/** Text that was built for a model. Nothing outside this folder makes one of a plain string. */
export type Prompt = string & { readonly [built]: true };

/** Text that cannot make a heading, a mark or a section. */
type Untrusted = MemoryText | SpeakerText | ToolText | ModelText;

const INDENT = "    ";
/** Each ends a line for some reader (https://www.unicode.org/reports/tr14/, class BK). */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
/** Control characters, and those that show nothing: bidi controls, joiners, tags, fillers, variation selectors. */
const UNSEEN = /(?:(?![\n\t])[\p{Cc}\p{DI}\uFFF9-\uFFFB])+/gu;
/** Runs of those that letters and emoji are made with. */
const JOINER = /^\uFE0F?[\u200C\u200D]$/;
const VARIANT = /^[\uFE0E\uFE0F]$/;
/** Tokens by which servers with chat templates separate roles: `<|im_start|>`, `<start_of_turn>`, `[INST]`, `<<SYS>>`. */
const ROLE_TOKEN =
  /[<[](?=[|｜][^\s<>|｜]{1,40}[|｜]>|(?:start|end)_of_turn>|\/?INST\]|\/?SYSTEM_PROMPT\]|<\/?SYS>>)/gu;
/** A line that begins like one of the gateway's marks, all of which have the form `[… #…]`. */
const MARK_LIKE = /^[^\S\n]*\p{Ps}[^\n]*[#＃﹟♯⌗]/mu;
const BLANKS = /[\p{C}\p{DI}\p{Z}\u2800]+/gu;
/** All but letters, digits, symbols and the marks that names are written with. Colons and hashes are none of those. */
const NOT_IN_LABELS = /(?:[^\p{L}\p{M}\p{N}\p{So}\p{Sk}\p{Sc} .,;'’()&+!?/_%=$~"-]|[ː꞉⌗])+/gu;
/** A name grows by at most this factor in its compatibility form. */
const LONGEST_UNCUT = 1_000;

/** Longer than a poll with all its answers is at Telegram. */
const LONGEST_FACT = 1_500;

/** Labels the text of a memory. */
export const memoryText = (text: string): MemoryText => text as MemoryText;
/** Labels what somebody wrote. */
export const speakerText = (text: string): SpeakerText => text as SpeakerText;
/** Labels the outcome of a tool. */
export const toolText = (text: string): ToolText => text as ToolText;
/** Labels what the model wrote. */
export const modelText = (text: string): ModelText => text as ModelText;

/** Builds a prompt of words that stand in the code and of parts that are built. */
export function prompt(words: TemplateStringsArray, ...parts: readonly (Prompt | number)[]): Prompt {
  return words.map((word, index) => `${word}${parts[index] ?? ""}`).join("") as Prompt;
}

/** Joins those parts that are not empty. */
export function joined(parts: readonly Prompt[], separator: "\n" | "\n\n"): Prompt {
  return parts.filter((part) => part !== "").join(separator) as Prompt;
}

/** Returns the operator's text with its own headings. */
export function verbatim(text: OperatorText): Prompt {
  return seen(text) as Prompt;
}

/** Returns what the model wrote, for a message in the model's own role. */
export function ownWords(text: ModelText): Prompt {
  return seen(text) as Prompt;
}

/** Returns a text with each of its lines indented. */
export function indented(text: Untrusted): Prompt {
  return seen(text).replace(/^(?=[^\n])/gm, INDENT) as Prompt;
}

/** Returns a text that follows a mark on its line; its further lines are indented. */
export function following(text: Untrusted): Prompt {
  return seen(text).replace(/\n(?=[^\n])/g, `\n${INDENT}`) as Prompt;
}

/**
 * Returns a text that the provider's protocol keeps apart as a whole: the message of a direct chat's only person, or the
 * result of a tool, which the model may have to write back as it was. It is left as it is, or indented as a whole if one
 * of its lines could be taken for a mark.
 */
export function unmarked(text: SpeakerText | ToolText): Prompt {
  return MARK_LIKE.test(seen(text)) ? indented(text) : (seen(text) as Prompt);
}

/** Returns a text as one line of at most `most` characters, to follow words of the code. */
export function oneLine(text: string, most: number): Prompt {
  return cut(seen(text).replace(/\s+/g, " ").trim(), most) as Prompt;
}

/**
 * Returns a name as one line of at most `most` characters: without what shows nothing, and without brackets, hashes,
 * colons and the like, which the marks are made of. Empty if nothing is left.
 */
export function label(name: string, most: number): Prompt {
  const shown = name.toWellFormed().replace(BLANKS, " ").trim().slice(0, LONGEST_UNCUT).toWellFormed();
  const plain = shown.normalize("NFKC").replace(BLANKS, " ").replace(NOT_IN_LABELS, " ");
  // A combining character at the beginning would change the mark before it.
  return cut(
    plain
      .replace(/^[\p{M}\s]+/u, "")
      .replace(/ {2,}/g, " ")
      .trim(),
    most,
  ).trim() as Prompt;
}

/** Returns a remark on something that came with a message, as a part of its sender's text: `[file: a.pdf, 3 kB]`. */
export function remark(kind: string, ...facts: readonly string[]): SpeakerText {
  const [said = "", ...others] = facts.map((fact) => oneLine(fact.replace(/[[\]]/g, " "), LONGEST_FACT));
  const called = said === "" ? kind : `${kind}: ${said}`;
  return speakerText(`[${[called, ...others].filter((fact) => fact !== "").join(", ")}]`);
}

/** Returns a text without what shows nothing, with one kind of line end, and with no token of a chat template. */
function seen(text: string): string {
  return text
    .toWellFormed()
    .replace(LINE_END, "\n")
    .replace(UNSEEN, (run, at: number, whole: string) => (isPartOfLetters(run, at, whole) ? run : ""))
    .replace(ROLE_TOKEN, "$& ");
}

/** Persian words, Indic letters and emoji need joiners and variants, between characters beyond ASCII. */
function isPartOfLetters(run: string, at: number, whole: string): boolean {
  const isBehind = whole.charCodeAt(at - 1) >= 0x80;
  if (VARIANT.test(run)) return isBehind;
  return isBehind && JOINER.test(run) && whole.charCodeAt(at + run.length) >= 0x80;
}

function cut(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;
}
