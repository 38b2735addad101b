/**
 * Types of text by trust level, and the functions that add text to a prompt.
 *
 * In a prompt, only text from the gateway or the operator starts in column zero. Text from any other source is
 * indented by four spaces or follows a mark that the gateway wrote, such as `[#person]:`. As a result, headings,
 * fences, names and marks in such text do not affect the rest of the prompt. {@link unmarked} and {@link modelPrompt}
 * are exempt, because each returns a whole message or a whole tool result.
 */

declare const trust: unique symbol;
declare const built: unique symbol;
type Text<Level> = string & { readonly [trust]: Level };

/** Text from the operator: config, `AGENTS.md`, `SOUL.md`, `USER.md`. Only `operatorText` creates it. */
export type OperatorText = Text<"operator">;
/** Notes from conversations: a `MEMORY.md`. */
export type MemoryText = Text<"memory">;
/** Text written by a person in a chat, or sent by a program in a person's place, for example through a hook. */
export type SpeakerText = Text<"speaker">;
/** Result of a tool: a page, a file, an MCP server's answer or an error. */
export type ToolText = Text<"tool">;
/** Text that the model wrote: an answer or a summary. It may repeat text from others, so it is not trusted. */
export type ModelText = Text<"model">;

/** Text built for a model. Only this folder converts plain strings to it. */
export type Prompt = string & { readonly [built]: true };

/** Text that must not be able to imitate the headings, sections or marks (such as `[#person]:`) of a prompt. */
type Untrusted = MemoryText | SpeakerText | ToolText | ModelText;

const INDENT = "    ";
/** Matches everything that a program may treat as a line end (https://www.unicode.org/reports/tr14/, class BK). */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
/** Matches control and invisible characters. */
const UNSEEN = /(?:(?![\n\t])[\p{Cc}\p{DI}\uFFF9-\uFFFB])+/gu;
/**
 * Matches a zero-width joiner or non-joiner, which connects or separates letters or emoji, and an optional variation
 * selector U+FE0F before it.
 */
const JOINER = /^\uFE0F?[\u200C\u200D]$/;
const VARIANT = /^[\uFE0E\uFE0F]$/;
/** Matches tokens that separate roles in chat templates: `<|im_start|>`, `<start_of_turn>`, `[INST]`, `<<SYS>>`. */
const ROLE_TOKEN =
  /[<[](?=[|｜][^\s<>|｜]{1,40}[|｜]>|(?:start|end)_of_turn>|\/?INST\]|\/?SYSTEM_PROMPT\]|<\/?SYS>>)/gu;
/** Matches a line that begins like a mark of the gateway, `[… #…]`. */
const MARK_LIKE = /^[^\S\n]*\p{Ps}[^\n]*[#＃﹟♯⌗]/mu;
const BLANKS = /[\p{C}\p{DI}\p{Z}\u2800]+/gu;
/**
 * Matches characters that names must not contain, such as colons and hashes. Letters, digits, symbols and common
 * punctuation are allowed.
 */
const NOT_IN_LABELS = /(?:[^\p{L}\p{M}\p{N}\p{So}\p{Sk}\p{Sc} .,;'’()&+!?/_%=$~"-]|[ː꞉⌗])+/gu;
/** Maximum length, in characters, of a name before normalisation, which can make the name longer. */
const LONGEST_UNCUT = 1_000;

/** Maximum length, in characters, of each detail in a bracketed note such as `[file: a.pdf, 3 kB]`. */
const LONGEST_FACT = 1_500;

export const memoryText = (text: string): MemoryText => text as MemoryText;
export const speakerText = (text: string): SpeakerText => text as SpeakerText;
export const toolText = (text: string): ToolText => text as ToolText;
export const modelText = (text: string): ModelText => text as ModelText;

/** Builds a prompt from literal words and parts that are already safe. */
export function prompt(words: TemplateStringsArray, ...parts: readonly (Prompt | number)[]): Prompt {
  return words.map((word, index) => `${word}${parts[index] ?? ""}`).join("") as Prompt;
}

export function joined(parts: readonly Prompt[], separator: "\n" | "\n\n"): Prompt {
  return parts.filter((part) => part !== "").join(separator) as Prompt;
}

/** Converts the operator's text without indenting it, so that its headings take effect in the prompt. */
export function verbatim(text: OperatorText): Prompt {
  return sanitize(text) as Prompt;
}

/** Sanitizes text that the model wrote, for reuse in an `assistant` message. */
export function modelPrompt(text: ModelText): Prompt {
  return sanitize(text) as Prompt;
}

export function indented(text: Untrusted): Prompt {
  return sanitize(text).replace(/^(?=[^\n])/gm, INDENT) as Prompt;
}

/** Sanitizes text that follows a mark such as `[#person]:`. Indents every line except the first. */
export function afterMark(text: Untrusted): Prompt {
  return sanitize(text).replace(/\n(?=[^\n])/g, `\n${INDENT}`) as Prompt;
}

/**
 * Formats a direct chat's message or a tool result without adding a mark such as `[#person]:`. Indents the text only
 * if a line looks like a mark, because indented text is harder for the model to reproduce.
 */
export function unmarked(text: SpeakerText | ToolText): Prompt {
  return MARK_LIKE.test(sanitize(text)) ? indented(text) : (sanitize(text) as Prompt);
}

export function oneLine(text: string, most: number): Prompt {
  return cut(sanitize(text).replace(/\s+/g, " ").trim(), most) as Prompt;
}

/**
 * Returns a name as one line. Removes invisible characters, square brackets, hashes and colons, so that the name
 * cannot imitate the gateway's markers in the prompt.
 */
export function label(name: string, most: number): Prompt {
  const shown = name.toWellFormed().replace(BLANKS, " ").trim().slice(0, LONGEST_UNCUT).toWellFormed();
  const plain = shown.normalize("NFKC").replace(BLANKS, " ").replace(NOT_IN_LABELS, " ");
  // Remove leading combining characters, which would attach to the character before the name.
  return cut(
    plain
      .replace(/^[\p{M}\s]+/u, "")
      .replace(/ {2,}/g, " ")
      .trim(),
    most,
  ).trim() as Prompt;
}

/** Returns a remark such as `[file: a.pdf, 3 kB]`. */
export function remark(kind: string, ...facts: readonly string[]): SpeakerText {
  const [said = "", ...others] = facts.map((fact) => oneLine(fact.replace(/[[\]]/g, " "), LONGEST_FACT));
  const called = said === "" ? kind : `${kind}: ${said}`;
  return speakerText(`[${[called, ...others].filter((fact) => fact !== "").join(", ")}]`);
}

/** Removes invisible characters, normalises line ends and breaks up tokens of chat templates. */
function sanitize(text: string): string {
  return text
    .toWellFormed()
    .replace(LINE_END, "\n")
    .replace(UNSEEN, (run, at: number, whole: string) => (isPartOfLetters(run, at, whole) ? run : ""))
    .replace(ROLE_TOKEN, "$& ");
}

/** Returns true for joiners and variation selectors in Persian words, Indic letters and emoji. */
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
