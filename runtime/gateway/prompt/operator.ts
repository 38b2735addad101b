import type { OperatorText } from "./text.ts";

/**
 * Marks a text as the operator's, whose headings and sections work in the system prompt. `.dependency-cruiser.mjs`
 * restricts the importers.
 */
export const operatorText = (text: string): OperatorText => text as OperatorText;
