export interface ArgumentProblem {
  /** The argument's path, such as `slack.botToken`. */
  path: string;
  /** Path of the invalid part inside the argument, such as `0` for a list's first item. */
  member?: string;
  /** Contains no secret. */
  reason: string;
  fix: string;
}

/** Phrases for problem reports, either about a program's arguments or about stack settings. */
export interface Wording {
  name(path: string): string;
  /** @param value suggested value. Default: none */
  set(path: string, value?: string): string;
  /** Returns the instruction to remove an argument, or only its member `member`. */
  remove(path: string, member?: string): string;
  /** Marks one of several remedies. */
  quote(remedy: string): string;
}

/**
 * Argument values by path; values not known yet are {@link LATER}. An {@link ArgumentRule} receives only valid
 * values, including defaults.
 */
export type Values = Readonly<Record<string, unknown>>;

/** Placeholder for an argument whose value is not known yet. */
export const LATER = Symbol("known later");

/** Reports problems that involve several arguments. */
export type ArgumentRule = (values: Values, words: Wording) => ArgumentProblem[];

/** Returns a fix with alternatives. */
export function joinRemedies(words: Wording, ...remedies: string[]): string {
  return remedies.map((remedy) => words.quote(remedy)).join(", or ");
}
