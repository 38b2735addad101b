import type { OperatorText } from "./text.ts";

/**
 * Marks text as the operator's, so that its headings and sections become part of the system prompt.
 * `.dependency-cruiser.mjs` restricts which files may import this.
 */
export const operatorText = (text: string): OperatorText => text as OperatorText;
