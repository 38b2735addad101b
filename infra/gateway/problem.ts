/** One problem with an argument. */
export interface ArgumentProblem {
  /** The argument's path, for example `slack.botToken`. */
  path: string;
  /** Path of the wrong member inside the argument, such as `0` in a list. */
  member?: string;
  /** Problem, without any secret. */
  reason: string;
  /** Remedy, in the words of a {@link Wording}. */
  fix: string;
}

/** Words for an argument and its remedies: as an argument, or as the setting that it was read from. */
export interface Wording {
  name(path: string): string;
  /** @param value Default: none is suggested */
  set(path: string, value?: string): string;
  /** @param member what to remove of the argument. Default: all of it */
  remove(path: string, member?: string): string;
  /** Sets one of several remedies off from the others. */
  quote(remedy: string): string;
}

/**
 * Valid values by path, with defaults; an invalid one is left out, so that it is reported once. A value that is known
 * only in the update is {@link LATER}.
 */
export type Values = Readonly<Record<string, unknown>>;

/** Placeholder of a value that is not known yet. */
export const LATER = Symbol("known later");

/** Returns the problems between valid values. */
export type ArgumentRule = (values: Values, words: Wording) => ArgumentProblem[];

/** Returns a fix with alternatives: one of them is enough. */
export function joinRemedies(words: Wording, ...remedies: string[]): string {
  return remedies.map((remedy) => words.quote(remedy)).join(", or ");
}
