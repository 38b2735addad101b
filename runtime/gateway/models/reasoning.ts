/** Elements in which open models write what they think, by the templates of Qwen, DeepSeek, Magistral and others. */
const ELEMENT = /^<(\/?)(?:think|thinking|thought|reasoning)>$/i;
/** Tokens of the format of gpt-oss: https://developers.openai.com/cookbook/articles/openai-harmony */
const TOKEN = /^<\|(start|channel|message|end|return|call)\|>$/;
/** A beginning of one of them. */
const BEGUN = /^<(?:\/?[a-z]{0,9}|\|[a-z]{0,7}\|?)$/i;
/** The channel that is meant for people, in the head of a message. */
const FINAL = /\bfinal\b/;

/** Part of the answer that a piece adds. */
export interface Added {
  text: string;
  /** All that was added before was reasoning, and counts no longer. */
  startsOver: boolean;
}

/**
 * Creates what takes a model's reasoning out of an answer that comes in pieces: a server that has no parser for it sends
 * it within the text. In code the marks stay, since there they are what somebody asked about.
 */
export function createReasoningFilter(): ReasoningFilter {
  return new ReasoningFilter();
}

/** See {@link createReasoningFilter}. */
class ReasoningFilter {
  readonly #code = new CodeState();
  /** The beginning of a mark. */
  #mark = "";
  /** The text of an element that has no end yet; `undefined` outside. */
  #element: { text: string; isOwnLine: boolean } | undefined;
  /** In the format of gpt-oss: the head of a message, or whether the message is for people. */
  #message: { head: string } | { isFinal: boolean } | undefined;
  #isEmpty = true;
  #hasEnded = false;

  /** True once reasoning has come to its end: what follows is the answer. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Reads the next piece. Only the beginning of a mark is kept back. */
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

  /** Ends the answer, and returns the part that was still held back. */
  end(): Added {
    const added: Added = { text: "", startsOver: false };
    this.#add(added, this.#mark);
    this.#mark = "";
    // An element within a line that never ends is something that the answer speaks of.
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
      // Blank lines stand between reasoning and answer.
      const shown = this.#isEmpty ? text.trimStart() : text;
      this.#isEmpty &&= shown === "";
      this.#code.read(shown);
      added.text += shown;
    }
  }

  /** Returns false for what is no mark here. */
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
      // Some templates write the element's beginning into the prompt.
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

/** Some of the same character. */
interface Run {
  of: string;
  length: number;
}

/** Tells where in a Markdown text code is open. */
class CodeState {
  /** Ends of the code: a fence, or a run of backticks within a paragraph. */
  #fence: Run | undefined;
  #ticks: Run | undefined;
  /** The run that the text so far ends in, and whether a fence may stand there. */
  #run: (Run & { isFirst: boolean }) | undefined;
  /** Characters before in this line; `undefined` once one of them is no blank. */
  #indent: number | undefined = 0;

  /** The text so far ends in code. */
  get isOpen(): boolean {
    return (this.#fence ?? this.#ticks ?? this.#run) !== undefined;
  }

  /** Nothing but blanks stands before in this line. */
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
        // A blank line ends a paragraph, and what is open in it.
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
