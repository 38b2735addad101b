import type { Prompt } from "./text.ts";

/**
 * Marks another program's conversation as a trusted prompt, because the program holds the gateway's token.
 * `.dependency-cruiser.mjs` restricts the importers.
 */
export const callerText = (text: string): Prompt => text as Prompt;
