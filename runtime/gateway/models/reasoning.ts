/** Tags around reasoning in templates of Qwen, DeepSeek, Magistral and other open models. */
const ELEMENT = /^<(\/?)(?:think|thinking|thought|reasoning)>$/i;
/** Tokens of gpt-oss's format: https://developers.openai.com/cookbook/articles/openai-harmony */
const TOKEN = /^<\|(start|channel|message|end|return|call)\|>$/;
/** Possible beginning of a tag or token. */
const BEGUN = /^<(?:\/?[a-z]{0,9}|\|[a-z]{0,7}\|?)$/i;
/** Matches the header of the gpt-oss message that contains the answer. */
const FINAL = /\bfinal\b/;

export interface Added {
  text: string;
  /** True if all previous text was reasoning and must be discarded. */
  startsOver: boolean;
}

/**
 * Creates a filter that removes reasoning, which some servers leave in streamed answers. Preserves tags inside code.
 */
export function createReasoningFilter(): ReasoningFilter {
  return new ReasoningFilter();
}

class ReasoningFilter {
  readonly #code = new CodeState();
  /** Withheld text that may be the beginning of a tag or token. */
  #mark = "";
  /**
   * Open reasoning tag. If the tag began a line (`isOwnLine`), what follows is discarded; otherwise, `text` collects
   * the tag and what follows.
   */
  #element: { text: string; isOwnLine: boolean } | undefined;
  /**
   * Current gpt-oss message: `head` is its incomplete header; `isFinal` is true if the message contains the answer.
   */
  #message: { head: string } | { isFinal: boolean } | undefined;
  #isEmpty = true;
  #hasEnded = false;

  /** True once reasoning has ended and the answer follows. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Filters the next piece. Withholds only a possible beginning of a tag or token. */
  push(piece: string): Added {
    const added: Added = { text: "", startsOver: false };
    for (const character of piece) {
      if (character === "<") {
        this.#add(added, this.#mark);
        this.#mark = character;
      } else if (this.#mark === "") this.#add(added, character);
      else {
        this.#mark += character;
        if (character === ">" && this.#readMark(added)) this.#mark = "";
        else if (!BEGUN.test(this.#mark)) {
          this.#add(added, this.#mark);
          this.#mark = "";
        }
      }
    }
    return added;
  }

  /** Returns the withheld text. */
  end(): Added {
    const added: Added = { text: "", startsOver: false };
    this.#add(added, this.#mark);
    this.#mark = "";
    // An unclosed tag in the middle of a line is part of the answer.
    const element = this.#element;
    this.#element = undefined;
    if (element?.isOwnLine === false) this.#add(added, element.text);
    return added;
  }

  #add(added: Added, text: string): void {
    const [element, message] = [this.#element, this.#message];
    if (element !== undefined) element.text += element.isOwnLine ? "" : text;
    else if (message !== undefined && "head" in message) message.head += text;
    else if (message === undefined || message.isFinal) {
      const shown = this.#isEmpty ? text.trimStart() : text;
      this.#isEmpty &&= shown === "";
      this.#code.read(shown);
      added.text += shown;
    }
  }

  /**
   * Updates the filter and returns true if `#mark` contains a complete reasoning tag or special token. Returns false
   * if `#mark` is ordinary text.
   */
  #readMark(added: Added): boolean {
    const [, token] = TOKEN.exec(this.#mark) ?? [];
    if (token !== undefined) return this.#readToken(token);
    const [, slash] = ELEMENT.exec(this.#mark) ?? [];
    if (slash === undefined || (this.#element === undefined && this.#code.isOpen)) return false;
    if (slash === "") {
      this.#element ??= { text: this.#mark, isOwnLine: this.#isEmpty || this.#code.isLineStart };
      return true;
    }
    if (this.#element !== undefined) this.#element = undefined;
    else if (this.#hasEnded) return false;
    else {
      // Some templates put the opening tag into the prompt, so only the closing tag arrives. All text before it was
      // reasoning.
      Object.assign(added, { text: "", startsOver: true });
      this.#isEmpty = true;
    }
    this.#hasEnded = true;
    return true;
  }

  #readToken(token: string): boolean {
    const begins = token === "start" || token === "channel";
    if (this.#message === undefined && !(begins && this.#isEmpty)) return false;
    if (token === "message") {
      const head = this.#message !== undefined && "head" in this.#message ? this.#message.head : "";
      this.#message = { isFinal: FINAL.test(head) };
      this.#hasEnded ||= this.#message.isFinal;
    } else this.#message = { head: "" };
    return true;
  }
}

/** Repetitions of one character. */
interface Run {
  of: string;
  length: number;
}

/** Tracks whether a Markdown text ends inside code. */
class CodeState {
  #fence: Run | undefined;
  #ticks: Run | undefined;
  /**
   * Backticks or tildes at the end of the text so far. `isFirst` is true if they start their line, apart from an
   * indent of at most three characters.
   */
  #run: (Run & { isFirst: boolean }) | undefined;
  /**
   * Number of whitespace characters so far in the current line; `undefined` once the line contains a character that
   * is not whitespace.
   */
  #indent: number | undefined = 0;

  get isOpen(): boolean {
    return (this.#fence ?? this.#ticks ?? this.#run) !== undefined;
  }

  get isLineStart(): boolean {
    return this.#indent !== undefined;
  }

  read(text: string): void {
    for (const character of text) {
      if (this.#run?.of === character) this.#run.length += 1;
      else {
        this.#endRun();
        if (character === "`" || (character === "~" && this.isLineStart))
          this.#run = { of: character, length: 1, isFirst: (this.#indent ?? 4) < 4 };
      }
      if (character === "\n") {
        // A blank line ends a paragraph and its inline code.
        if (this.isLineStart) this.#ticks = undefined;
        this.#indent = 0;
      } else if (this.#indent !== undefined)
        this.#indent = character.trim() === "" ? this.#indent + 1 : undefined;
    }
  }

  #endRun(): void {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined) return;
    const isFence = run.isFirst && run.length > 2 && this.#ticks === undefined;
    if (this.#fence !== undefined) {
      if (isFence && run.of === this.#fence.of && run.length >= this.#fence.length) this.#fence = undefined;
    } else if (isFence) this.#fence = run;
    else if (run.of === "`" && this.#ticks === undefined) this.#ticks = run;
    else if (run.length === this.#ticks?.length) this.#ticks = undefined;
  }
}

export type { ReasoningFilter };
