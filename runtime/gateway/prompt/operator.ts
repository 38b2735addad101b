import type { OperatorText } from "./text.ts";

/**
 * Vouches that a text is the operator's: it then makes headings and sections in the system prompt. `.dependency-cruiser.mjs`
 * names the files that may.
 */
export const operatorText = (text: string): OperatorText => text as OperatorText;
